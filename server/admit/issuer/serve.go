package issuer

import (
	"context"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"

	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/guard"
)

const stopTimeout = 2 * time.Second

// limits are small: a request is a key and a number of 256 bytes.
var limits = guard.Limits{
	Connections:   4096,
	HeldBytes:     64 << 20,
	DecodingBytes: 16 << 20,
	DecodingCost:  func(n int) int64 { return 4 * int64(n) },
	MessageBytes:  4 << 10,
	UnaryBytes:    4 << 10,
	Progress:      30 * time.Second,
	Idle:          5 * time.Minute, Age: time.Hour, Grace: time.Minute,
}

// Listeners are where Serve answers. It closes them.
type Listeners struct{ Clients, Operator net.Listener }

// Serve answers calls, with health checks, until ctx ends, and then for at most 2 s those that are
// in progress. It returns nil then, or the error after which the issuer has failed.
func (i *Issuer) Serve(ctx context.Context, l Listeners) error {
	group, ctx := errgroup.WithContext(ctx)
	clients := i.endpoint(i.cfg.Credentials)
	i.RegisterClients(clients)
	operator := i.endpoint(i.cfg.OperatorCredentials)
	i.RegisterOperator(operator)
	group.Go(func() error { return clients.Serve(ctx, l.Clients) })
	group.Go(func() error { return operator.Serve(ctx, l.Operator) })
	group.Go(func() error {
		select {
		case <-i.Failed():
			return i.ready()
		case <-ctx.Done():
			return nil
		}
	})
	return group.Wait()
}

// endpoint returns the gRPC server of a listener.
func (i *Issuer) endpoint(creds credentials.TransportCredentials) *endpoint.Endpoint {
	return endpoint.New(endpoint.Config{
		Guard: guard.New(limits, i.cfg.Logger), Codec: encoding.GetCodecV2(proto.Name), Logger: i.cfg.Logger,
		Ready: i.Ready, StopTimeout: stopTimeout, Credentials: creds,
	})
}
