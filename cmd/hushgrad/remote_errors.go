package main

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// explained are the options of a connection whose errors name the flag that is likely to be wrong.
func (r *remote) explained() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return r.explain(method, call(ctx, method, req, reply, conn, options...))
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := open(ctx, desc, conn, method, options...)
			return callStream{stream, func(err error) error { return r.explain(method, err) }}, r.explain(method, err)
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

// callError is an error of gRPC in the words of a flag.
type callError struct {
	err   error
	words string
}

func (e callError) Error() string { return e.words }
func (e callError) Unwrap() error { return e.err }

// explain returns the error of a call, with a flag in it where one is likely to be wrong.
func (r *remote) explain(method string, err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	if words := r.words(method, s); words != "" {
		return callError{err, words}
	}
	return err
}

// words say which flag is likely to be wrong, "" for an error that says so itself: the address of nobody, that of a
// listener for others, or those of TLS.
func (r *remote) words(method string, s *status.Status) string {
	code, message := s.Code(), s.Message()
	ca, cert, key := r.tlsFlags()
	service, _, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	_, dialing, failed := strings.Cut(message, "while dialing: ")
	rule := func(text string) string { return fmt.Sprintf("%s: got %q, rule: %s", r.flag, r.server, text) }
	switch {
	case code == codes.Unimplemented && message == "unknown service "+service:
		return rule("must be its listener for " + service + ", and is another one")
	case code != codes.Unavailable:
		return ""
	case failed:
		return rule("must be where it listens: " + strings.TrimSuffix(dialing, `"`))
	case r.ca == "" && strings.Contains(message, "server preface: EOF"):
		return s.String() + ": a server with TLS needs " + ca
	case strings.Contains(message, "tls: certificate required"):
		return s.String() + ": give " + cert + " and " + key
	case strings.Contains(message, "remote error: tls: bad certificate"):
		return s.String() + ": the other party does not accept " + cert + ", and its log says why"
	}
	return ""
}
