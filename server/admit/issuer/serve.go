package issuer

import (
	"context"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/internal/rpcserve"
)

const (
	maxMessageBytes = 4 << 10
	stopTimeout     = 2 * time.Second
)

// Listeners are where Serve answers. It closes them.
type Listeners struct{ Clients, Operator net.Listener }

// Serve answers calls, with health checks, until ctx ends, and then for at most 2 s those that are
// in progress. It returns nil then, or the error after which the issuer has failed.
func (i *Issuer) Serve(ctx context.Context, l Listeners) error {
	group, ctx := errgroup.WithContext(ctx)
	clients := rpcserve.New(i.cfg.Credentials, maxMessageBytes, i.cfg.Logger)
	i.RegisterClients(clients)
	operator := rpcserve.New(i.cfg.OperatorCredentials, maxMessageBytes, i.cfg.Logger)
	i.RegisterOperator(operator)
	group.Go(func() error { return rpcserve.Serve(ctx, clients, l.Clients, stopTimeout, i.cfg.Logger) })
	group.Go(func() error { return rpcserve.Serve(ctx, operator, l.Operator, stopTimeout, i.cfg.Logger) })
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
