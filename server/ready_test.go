package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hushgrad/hushgrad/server/internal/keeper"
	"github.com/hushgrad/hushgrad/server/journal"
)

// A server says in words why it is not ready, and is ready again when the reason is gone.
func TestReadySaysWhatIsWrong(t *testing.T) {
	t.Parallel() // it mostly waits
	kept := &moody{Journal: journal.NewMemory()}
	c := call(t, kept, smallRound())
	wants := func(when, says string) {
		t.Helper()
		if err := c.Ready(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", when, err, says)
		}
	}
	wants("at first", "")
	kept.mood(fmt.Errorf("a test: %w", journal.ErrFull))
	if _, err := c.submit(1, c.reports(5)); err == nil {
		t.Error("reports were counted without room")
	}
	wants("without room", "no room left")
	kept.mood(nil)
	time.Sleep(2 * keeper.BetweenTries)
	wants("with room", "")
	c.cfg.Ready = func() error { return errors.New("a reason of the caller's") }
	wants("for the caller", "a reason of the caller's")
	c.Close()
	wants("at the end", "shutting down")
}

// The health service says what Ready says.
func TestHealthFollowsReady(t *testing.T) {
	t.Parallel() // it mostly waits
	var mu sync.Mutex
	var wrong error
	s, err := New(Config{Logger: slog.New(slog.DiscardHandler), Ready: func() error {
		mu.Lock()
		defer mu.Unlock()
		return wrong
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, Listeners{Clients: l}) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch, err := healthpb.NewHealthClient(conn).Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		wrong error
		want  healthpb.HealthCheckResponse_ServingStatus
	}{
		{nil, healthpb.HealthCheckResponse_SERVING},
		{errors.New("wrong"), healthpb.HealthCheckResponse_NOT_SERVING},
		{nil, healthpb.HealthCheckResponse_SERVING},
	} {
		mu.Lock()
		wrong = step.wrong
		mu.Unlock()
		if got, err := watch.Recv(); err != nil || got.GetStatus() != step.want {
			t.Fatalf("health is %v, %v, want %v", got, err, step.want)
		}
	}
	conn.Close()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// crowded is a journal on a disk that somebody else has filled.
type crowded struct{ journal.Journal }

// Room implements journal.Roomy.
func (crowded) Room() error { return fmt.Errorf("a test: %w", journal.ErrFull) }

// A server whose disk is full is not ready before it has refused a report.
func TestAServerOnAFullDiskIsNeverReady(t *testing.T) {
	s, err := New(Config{Logger: slog.New(slog.DiscardHandler), Journal: crowded{journal.NewMemory()}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(); !errors.Is(err, journal.ErrFull) {
		t.Errorf("got %v", err)
	}
}
