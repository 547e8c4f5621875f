package server

import (
	"context"

	"google.golang.org/grpc/stats"
)

// traffic counts connections and calls for the metrics. It implements stats.Handler.
type traffic struct{ *metrics }

func (t traffic) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (t traffic) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (t traffic) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s.(type) {
	case *stats.Begin:
		t.calls.Inc()
	case *stats.End:
		t.calls.Dec()
	}
}

func (t traffic) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		t.connections.Inc()
	case *stats.ConnEnd:
		t.connections.Dec()
	}
}
