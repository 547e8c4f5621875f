package main

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// explainCall calls, and explains the error.
func (r *remote) explainCall(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
	return r.explain(call(ctx, method, req, reply, conn, options...))
}

// explainStream opens a stream, and explains the errors of what is received.
func (r *remote) explainStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, options...)
	if err != nil {
		return nil, r.explain(err)
	}
	return hinted{stream, r}, nil
}

// hinted is a stream whose errors are explained.
type hinted struct {
	grpc.ClientStream
	of *remote
}

// RecvMsg implements grpc.ClientStream.
func (h hinted) RecvMsg(m any) error { return h.of.explain(h.ClientStream.RecvMsg(m)) }

// explain adds to an error what flag is likely to be wrong.
func (r *remote) explain(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	hint := r.hint(s.Code(), s.Message())
	if hint == "" {
		return err
	}
	with := s.Proto() // a copy
	with.Message += ": " + hint
	return status.FromProto(with).Err()
}

// hint says what to do about the error of a call, "" for one that says so itself.
func (r *remote) hint(code codes.Code, message string) string {
	ca, cert, key := r.tlsFlags()
	switch {
	case code == codes.Unimplemented && strings.Contains(message, "unknown service hushgrad."):
		return r.flag + " must be another listener there: clients, the operator and the shuffler have one each"
	case code != codes.Unavailable:
		return ""
	case r.ca == "" && strings.Contains(message, "server preface: EOF"):
		return "a server with TLS needs " + ca
	case strings.Contains(message, "tls: certificate required"):
		return "give " + cert + " and " + key
	case strings.Contains(message, "remote error: tls: bad certificate"):
		return "the other party does not accept " + cert + ", and its log says why"
	}
	return ""
}
