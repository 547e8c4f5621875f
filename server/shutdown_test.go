package server_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/hushgrad/hushgrad/server"
)

// watched runs a server and returns a health stream that has seen it serve, and
// what ends the server and waits for it.
func watched(ctx context.Context, t *testing.T, cfg server.Config) (stream healthpb.Health_WatchClient, stop context.CancelFunc, served <-chan error) {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 20)
	serving, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(serving, server.Listeners{Clients: listener}) }()
	t.Cleanup(stop)
	stream, err = healthpb.NewHealthClient(connect(t, listener).conn).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := stream.Recv(); err != nil || first.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("health: %v, %v, want serving", first, err)
	}
	return stream, stop, done
}

func TestHealthTellsTheShutdown(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	stream, stop, served := watched(ctx, t, server.Config{})
	stop()
	if next, err := stream.Recv(); err != nil || next.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health at shutdown: %v, %v, want not serving", next, err)
	}
	hangUp()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// A stream that never ends does not keep the server: after ShutdownTimeout it is
// cut off.
func TestShutdownCutsOffAHangingStream(t *testing.T) {
	stream, stop, served := watched(t.Context(), t, server.Config{ShutdownTimeout: 100 * time.Millisecond})
	stop()
	select {
	case err := <-served:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Serve still waits for the stream")
	}
	for {
		if _, err := stream.Recv(); err != nil {
			if status.Code(err) != codes.Unavailable {
				t.Errorf("the stream ended with %v, want Unavailable", err)
			}
			return
		}
	}
}
