package main

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
)

// explained are the options of a connection whose errors name the flag that is likely to be wrong.
func (h *handshake) explained() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return h.explain(method, call(ctx, method, req, reply, conn, options...))
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := open(ctx, desc, conn, method, options...)
			return callStream{stream, func(err error) error { return h.explain(method, err) }}, h.explain(method, err)
		}),
	}
}

// callStream is a stream whose errors are explained.
type callStream struct {
	grpc.ClientStream
	explain func(error) error
}

// RecvMsg implements grpc.ClientStream. What ends a stream comes from here.
func (s callStream) RecvMsg(m any) error { return s.explain(s.ClientStream.RecvMsg(m)) }

// flagError is an error of a connection or a listener in the words of a flag.
type flagError struct {
	err   error
	words string
}

func (e flagError) Error() string { return e.words }
func (e flagError) Unwrap() error { return e.err }

// explain returns the error of a call, with a flag in it where one is likely to be wrong.
func (h *handshake) explain(method string, err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	if words := h.words(method, s); words != "" {
		return flagError{err, words}
	}
	return err
}

// words say which flag is likely to be wrong, "" for an error that says so itself: the address of nobody, the
// address of a listener for others, or the flags of TLS.
func (h *handshake) words(method string, s *status.Status) string {
	r, code, message := h.remote, s.Code(), s.Message()
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	_, dialing, failed := strings.Cut(message, "while dialing: ")
	switch {
	case code == codes.Unimplemented && message == "unknown service "+service:
		return fl.Invalid(r.flag, r.server, "must be its listener for %s, and is another one", service).Error()
	case code != codes.Unavailable:
		return ""
	case failed:
		return fl.Invalid(r.flag, r.server, "must be where it listens, and it must run: %s", strings.TrimSuffix(dialing, `"`)).Error()
	case strings.Contains(message, "produced zero addresses"):
		return fl.Invalid(r.flag, r.server, "must be a name that this machine can look up, or an IP address").Error()
	}
	if mistake := h.mistake.Load(); mistake != nil {
		return (*mistake).Error()
	}
	if strings.Contains(message, "error reading server preface") {
		return fl.Invalid(r.flag, r.server, "must be a listener of hushgrad for gRPC, and another program or page answers there").Error()
	}
	return ""
}
