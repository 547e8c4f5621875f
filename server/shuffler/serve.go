package shuffler

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/credentials"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/internal/endpoint"
	"github.com/hushgrad/hushgrad/server/internal/gateway"
	"github.com/hushgrad/hushgrad/server/internal/guard"
	"github.com/hushgrad/hushgrad/server/internal/model"
)

// Listeners are where Serve answers clients. It closes them.
type Listeners struct {
	// Clients is required.
	Clients net.Listener
	// HTTP is where the same service is offered over HTTP/1.1 and h2, too: to browsers and curl.
	// When nil, it is not.
	HTTP net.Listener
}

// Serve answers clients, with health checks, until ctx ends. Then it lets calls in progress finish
// for Config.ShutdownTimeout and returns nil. It returns an error when the shuffler has failed, see
// Failed.
func (s *Shuffler) Serve(ctx context.Context, l Listeners) error {
	group, ctx := errgroup.WithContext(ctx)
	e := endpoint.New(s.endpoint("clients", s.clients, s.cfg.Credentials))
	s.Register(e)
	if l.HTTP != nil {
		http, err := gateway.New(gateway.Config{
			Endpoint: s.endpoint("http", s.http, nil), Register: s.Register, Service: service.Rounds_ServiceDesc.ServiceName,
			MessageBytes: s.cfg.MaxMessageBytes, Security: s.cfg.HTTPSecurity, Origins: s.cfg.HTTPOrigins, OHTTPKeys: s.cfg.OHTTPKeys,
		})
		if err != nil {
			return fmt.Errorf("shuffler: %w", err)
		}
		group.Go(func() error { return http.Serve(ctx, l.HTTP) })
	}
	group.Go(func() error { return e.Serve(ctx, l.Clients) })
	group.Go(func() error { return s.written.Await(ctx) })
	group.Go(func() error { return endpoint.LogStop(ctx, s.cfg.Logger, &s.inFlight, s.cfg.ShutdownTimeout) })
	if err := group.Wait(); err != nil {
		return fmt.Errorf("shuffler: %w", err)
	}
	return nil
}

// endpoint returns the settings of the gRPC server of a listener.
func (s *Shuffler) endpoint(name string, g *guard.Guard, creds credentials.TransportCredentials) endpoint.Config {
	return endpoint.Config{
		Name: name, Guard: g, Codec: model.NewCodec(), Logger: s.cfg.Logger, Ready: s.Ready, StopTimeout: s.cfg.ShutdownTimeout,
		Credentials: creds, Reflection: s.cfg.Reflection, StatsHandler: s.cfg.StatsHandler, Calls: &s.inFlight,
	}
}

// decodingCost is the memory that a message of n bytes takes until it is kept: its bytes as they
// came, in one piece, decoded, encrypted, and in the journal's batch, and the keys of its reports,
// which have at least 48 bytes each.
func decodingCost(n int) int64 {
	const reportBytes = 512
	return 5*int64(n) + reportBytes*int64(min(n/48, fl.MaxBatch))
}
