package shuffler

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/model"
)

// Serve answers clients on a listener, which it closes, with health checks, until ctx ends. Then it
// lets calls in progress finish for Config.ShutdownTimeout and returns nil. It returns an error when
// the shuffler has failed, see Failed.
func (s *Shuffler) Serve(ctx context.Context, clients net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	e := endpoint.New(endpoint.Config{
		Guard: s.clients, Codec: model.NewCodec(), Logger: s.cfg.Logger, Ready: s.Ready, StopTimeout: s.cfg.ShutdownTimeout,
		Credentials: s.cfg.Credentials, Reflection: s.cfg.Reflection,
	})
	s.Register(e)
	group.Go(func() error { return e.Serve(ctx, clients) })
	group.Go(func() error {
		select {
		case <-s.Failed():
			return s.broken()
		case <-ctx.Done():
			return nil
		}
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("shuffler: %w", err)
	}
	return nil
}

// decodingCost is the memory that a message of n bytes takes until it is kept: its bytes as they
// came, in one piece, decoded, encrypted, and in the journal's batch, and the keys of its reports,
// which have at least 48 bytes each.
func decodingCost(n int) int64 {
	const reportBytes = 512
	return 5*int64(n) + reportBytes*int64(min(n/48, fl.MaxBatch))
}
