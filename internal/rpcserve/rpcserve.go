// Package rpcserve runs a gRPC server within bounds: of connections, of calls, of bytes, and
// of the time it takes to stop. Use it for a service that strangers reach. Start with [New] and
// [Serve].
package rpcserve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// Limits of every server.
const (
	maxConnections = 4096
	maxCalls       = 128 // of one connection at one time
	maxHeaderBytes = 16 << 10
)

// New returns a gRPC server for unary calls with messages of at most maxMessageBytes. nil
// credentials are none. A handler that panics answers INTERNAL, and the logger receives why.
func New(creds credentials.TransportCredentials, maxMessageBytes int, logger *slog.Logger) *grpc.Server {
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	return grpc.NewServer(
		grpc.Creds(creds),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(maxCalls),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.ConnectionTimeout(20*time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: 5 * time.Minute, MaxConnectionAge: time.Hour, MaxConnectionAgeGrace: time.Minute,
			Time: time.Minute, Timeout: 20 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 20 * time.Second, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
			defer func() {
				if p := recover(); p != nil {
					logger.Error("panic", "method", info.FullMethod, "panic", p, "stack", string(debug.Stack()))
					err = status.Error(codes.Internal, "internal error")
				}
			}()
			return handler(ctx, req)
		}),
	)
}

// Serve answers calls on a listener, which it closes, with health checks, until ctx ends. Then it
// lets calls in progress finish for the timeout and returns nil.
func Serve(ctx context.Context, g *grpc.Server, l net.Listener, timeout time.Duration, logger *slog.Logger) error {
	state := health.NewServer()
	healthpb.RegisterHealthServer(g, state)
	logger.Info("serving", "address", l.Addr().String())

	stopped := make(chan struct{})
	defer func() { <-stopped }()
	served, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer close(stopped)
		<-served.Done()
		state.Shutdown()
		force := time.AfterFunc(timeout, g.Stop)
		defer force.Stop()
		g.GracefulStop()
	}()
	// A context that ended before Serve began leaves a stopped server behind.
	if err := g.Serve(netutil.LimitListener(l, maxConnections)); err != nil && !(errors.Is(err, grpc.ErrServerStopped) && ctx.Err() != nil) {
		return fmt.Errorf("%s: %w", l.Addr(), err)
	}
	return nil
}
