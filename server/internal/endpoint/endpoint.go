// Package endpoint runs the gRPC server of one listener: guarded against its peers, with health
// checks, and stopped within a given time. Use it for every role that answers calls. Start with
// [New] and [Endpoint.Serve].
package endpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/server/internal/guard"
)

// Config holds the settings of an Endpoint. All fields are required but the last four.
type Config struct {
	// Name is the listener's in the log: clients.
	Name   string
	Guard  *guard.Guard
	Codec  encoding.CodecV2
	Logger *slog.Logger
	// Ready says in words what is wrong. The health service follows it within a second.
	Ready func() error
	// StopTimeout is how long calls in progress may take when the endpoint stops.
	StopTimeout time.Duration
	// Credentials are the transport security, nil for none.
	Credentials credentials.TransportCredentials
	// Reflection describes the services to whoever asks.
	Reflection bool
	// StatsHandler is told of every connection and call, nil for nobody.
	StatsHandler stats.Handler
	// Calls counts the calls in progress, together with other endpoints' calls. nil does not.
	Calls *atomic.Int64
}

// Endpoint is a gRPC server to register services on. A handler that panics answers INTERNAL,
// and the logger receives why.
type Endpoint struct {
	*grpc.Server
	config Config
}

// New returns an endpoint without services.
func New(c Config) *Endpoint {
	c.Credentials = cmp.Or(c.Credentials, insecure.NewCredentials())
	c.Calls = cmp.Or(c.Calls, new(atomic.Int64))
	e := &Endpoint{config: c}
	options := append(c.Guard.Options(c.Codec), grpc.Creds(c.Credentials), grpc.ChainUnaryInterceptor(e.unary), grpc.ChainStreamInterceptor(e.stream))
	if c.StatsHandler != nil {
		options = append(options, grpc.StatsHandler(c.StatsHandler))
	}
	e.Server = grpc.NewServer(options...)
	return e
}

// Serve answers calls on a listener, which it closes, until ctx ends. Then it lets calls in
// progress finish for Config.StopTimeout and returns nil.
func (e *Endpoint) Serve(ctx context.Context, l net.Listener) error {
	state := health.NewServer()
	healthpb.RegisterHealthServer(e.Server, state)
	if e.config.Reflection {
		reflection.Register(e.Server)
	}
	e.config.Logger.Info("serving", "address", l.Addr().String(), "listener", e.config.Name)

	var background sync.WaitGroup
	defer background.Wait()
	served, end := context.WithCancel(ctx)
	defer end()
	background.Go(func() { e.reportHealth(served, state) })
	background.Go(func() {
		<-served.Done()
		state.Shutdown()
		force := time.AfterFunc(e.config.StopTimeout, e.Stop)
		defer force.Stop()
		e.GracefulStop()
	})
	// A context that ended before Serve began leaves a stopped server behind.
	if err := e.Server.Serve(e.config.Guard.Listener(l)); err != nil && !(errors.Is(err, grpc.ErrServerStopped) && ctx.Err() != nil) {
		return fmt.Errorf("%s: %w", l.Addr(), err)
	}
	return nil
}

// LogStop waits until ctx ends, and then logs how many calls are in progress and how long they may take. It returns nil: a service
// calls it in the group of its endpoints, which count the calls.
func LogStop(ctx context.Context, logger *slog.Logger, calls *atomic.Int64, timeout time.Duration) error {
	<-ctx.Done()
	logger.Info("stopping", "calls_in_flight", calls.Load(), "timeout", timeout)
	return nil
}

// reportHealth keeps the answers of the health service true until ctx ends.
func (e *Endpoint) reportHealth(ctx context.Context, state *health.Server) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		answer := healthpb.HealthCheckResponse_SERVING
		if e.config.Ready() != nil {
			answer = healthpb.HealthCheckResponse_NOT_SERVING
		}
		state.SetServingStatus("", answer)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (e *Endpoint) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	e.config.Calls.Add(1)
	defer e.ended(info.FullMethod, &err)
	return handler(ctx, req)
}

func (e *Endpoint) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	e.config.Calls.Add(1)
	defer e.ended(info.FullMethod, &err)
	return handler(srv, stream)
}

func (e *Endpoint) ended(method string, err *error) {
	e.config.Calls.Add(-1)
	if p := recover(); p != nil {
		e.config.Logger.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
}
