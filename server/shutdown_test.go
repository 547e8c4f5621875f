package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/client"
)

// overTCP is a server on two ports that the test stops by itself.
type overTCP struct {
	clients, operator string // addresses
	stop              context.CancelFunc
	served            <-chan error // what Serve returned
}

func serveTCP(t testing.TB, cfg server.Config) *overTCP {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	srv, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	clients, operator := listen(t), listen(t)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, server.Listeners{Clients: clients, Operator: operator}) }()
	return &overTCP{clients.Addr().String(), operator.Addr().String(), stop, served}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial connects to an address until the test ends.
func dial(t testing.TB, address string, opts ...grpc.CallOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(opts...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// When its context ends the server lets a submission in progress finish.
func TestShutdownIsGraceful(t *testing.T) {
	s := serveTCP(t, server.Config{Limits: server.Limits{ShutdownTimeout: time.Minute}})
	asClient, asOperator := dial(t, s.clients), dial(t, s.operator)
	if _, err := client.NewOperator(asClient).OpenRound(t.Context(), cocoRound("r")); err == nil {
		t.Error("a client opened a round on the clients' listener")
	}
	opened, err := client.NewOperator(asOperator).OpenRound(t.Context(), cocoRound("r"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := fl.Open(opened)
	if err != nil {
		t.Fatal(err)
	}
	report, err := m.Encode(nil, make([]float64, opened.Dim), nil)
	if err != nil {
		t.Fatal(err)
	}
	rounds := service.NewRoundsClient(asClient)
	stream, err := rounds.SubmitReports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(request(t, opened, 1, report)); err != nil {
		t.Fatal(err)
	}
	// The stream is known to the server once another call on it was answered.
	for resp := new(service.GetRoundResponse); resp.GetStatus().GetReports() == 0; {
		if resp, err = rounds.GetRound(t.Context(), &service.GetRoundRequest{RoundId: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	if err := stream.Send(request(t, opened, 2, report)); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	resp, err := stream.CloseAndRecv()
	if err != nil || resp.GetAccepted() != 2 {
		t.Errorf("the submission in progress: %v, %v, want 2 accepted", resp, err)
	}
	if err := <-s.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := rounds.GetRound(t.Context(), &service.GetRoundRequest{}); err == nil {
		t.Error("the server still answers")
	}
}

// watch returns a health stream that has seen the server serve.
func watch(ctx context.Context, t *testing.T, s *overTCP) healthpb.Health_WatchClient {
	t.Helper()
	stream, err := healthpb.NewHealthClient(dial(t, s.clients)).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if first, err := stream.Recv(); err != nil || first.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("health: %v, %v, want serving", first, err)
	}
	return stream
}

func TestHealthReportsTheShutdown(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	s := serveTCP(t, server.Config{})
	stream := watch(ctx, t, s)
	s.stop()
	if next, err := stream.Recv(); err != nil || next.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health at shutdown: %v, %v, want not serving", next, err)
	}
	hangUp()
	if err := <-s.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// A stream that never ends does not keep the server: after ShutdownTimeout it is
// cut off.
func TestShutdownCutsOffAHangingStream(t *testing.T) {
	s := serveTCP(t, server.Config{Limits: server.Limits{ShutdownTimeout: 100 * time.Millisecond}})
	stream := watch(t.Context(), t, s)
	s.stop()
	select {
	case err := <-s.served:
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

// A call that waits for a round does not keep the server from stopping.
func TestWaitingCallsDoNotDelayTheStop(t *testing.T) {
	s := serveTCP(t, server.Config{Limits: server.Limits{ShutdownTimeout: time.Hour}})
	operator := client.NewOperator(dial(t, s.operator))
	if _, err := operator.OpenRound(t.Context(), cocoRound("r")); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := operator.Estimate(t.Context(), "r", true)
		waiting <- err
	}()
	time.Sleep(50 * time.Millisecond) // the stop comes while it waits, most often
	s.stop()
	if err := <-s.served; err != nil {
		t.Error(err)
	}
	wantCode(t, "the waiting call", errors.Unwrap(<-waiting), codes.Unavailable)
}
