package servertest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server"
	"github.com/hushgrad/hushgrad/server/internal/servertest"
)

var round = fl.Round{
	ID: "r", Mechanism: "coco", Dim: 20, Scale: 0.5, Epsilon: 2, MinReports: 1, Params: fl.Params{"sparsity": fl.Int(4)},
}

func TestARoundThroughItsCallers(t *testing.T) {
	var log, silence bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&silence, nil)))
	for name, start := range map[string]func() (*servertest.Server, error){
		"Start": func() (*servertest.Server, error) { return servertest.Start(server.Config{}) },
		"Start with a logger": func() (*servertest.Server, error) {
			return servertest.Start(server.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		},
		"StartGRPC": func() (*servertest.Server, error) {
			srv, err := server.New(server.Config{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return nil, err
			}
			g := grpc.NewServer()
			srv.RegisterRounds(g)
			srv.RegisterOperator(g)
			return servertest.StartGRPC(g)
		},
	} {
		s, err := start()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Operator().OpenRound(t.Context(), round); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		strict, err := s.Client(fl.Policy{MaxEpsilon: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := strict.Join(t.Context(), ""); !errors.Is(err, fl.ErrPolicy) {
			t.Errorf("%s: a policy that the round does not meet: %v", name, err)
		}
		c, err := s.Client(fl.Policy{MaxEpsilon: 2})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Join(t.Context(), "r"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}
		if _, err := c.Join(t.Context(), "r"); err == nil {
			t.Errorf("%s: it answers after Close", name)
		}
	}
	if !bytes.Contains(log.Bytes(), []byte("round open")) {
		t.Errorf("the logger received %q", &log)
	}
	if silence.Len() > 0 {
		t.Errorf("without a logger it wrote %q", &silence)
	}
}

// Close does not wait for a call that waits for the round.
func TestCloseEndsCallsInProgress(t *testing.T) {
	s, err := servertest.Start(server.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Operator().OpenRound(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error, 1)
	go func() {
		_, err := s.Operator().Estimate(context.Background(), "r", true)
		waited <- err
	}()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-waited; status.Code(err) != codes.Canceled {
		t.Errorf("the call in progress: %v, want Canceled", err)
	}
}

func TestStartRefusesABadConfig(t *testing.T) {
	var p *fl.ParamError
	if s, err := servertest.Start(server.Config{KeepRounds: -1}); !errors.As(err, &p) || s != nil {
		t.Errorf("got %v, %v, want a ParamError", s, err)
	}
}

// A server that is stopped before it began to serve ends without an error.
func TestCloseAtOnce(t *testing.T) {
	stopped := grpc.NewServer()
	stopped.Stop()
	s, err := servertest.StartGRPC(stopped)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for range 50 {
		for name, start := range map[string]func() (*servertest.Server, error){
			"Start":     func() (*servertest.Server, error) { return servertest.Start(server.Config{}) },
			"StartGRPC": func() (*servertest.Server, error) { return servertest.StartGRPC(grpc.NewServer()) },
		} {
			s, err := start()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
