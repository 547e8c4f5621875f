package issuer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestMetricsCountAnswers(t *testing.T) {
	figures := prometheus.NewRegistry()
	wrong := errors.New("a reason of the caller's")
	i, err := New(Config{
		Journal: journal.NewMemory(), Logger: slog.New(slog.DiscardHandler), Metrics: figures,
		Admit: func(context.Context) (string, error) { return "anna", nil }, Ready: func() error { return wrong },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	for n := range 3 {
		req := &service.IssueTokenRequest{TokenKeyId: make([]byte, 31+n/2)} // no key id, no key id, no message
		if _, err := (clients{Issuer: i}).IssueToken(t.Context(), req); err == nil {
			t.Error("a token without a key")
		}
	}
	want := `
		# HELP hushgrad_issuer_answers_total Answers to clients that asked for a token, by gRPC code. OK is a token, also one that was given before.
		# TYPE hushgrad_issuer_answers_total counter
		hushgrad_issuer_answers_total{code="InvalidArgument"} 3
		hushgrad_issuer_answers_total{code="OK"} 0
		# HELP hushgrad_issuer_keys Keys of rounds.
		# TYPE hushgrad_issuer_keys gauge
		hushgrad_issuer_keys 0
`
	if err := testutil.GatherAndCompare(figures, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if err := i.Ready(); err != wrong {
		t.Errorf("ready: %v", err)
	}
	if _, err := New(Config{Journal: journal.NewMemory(), Metrics: figures}); err == nil || !strings.Contains(err.Error(), "Metrics") {
		t.Errorf("a registry with the figures of another issuer: error %v", err)
	}
}

// A log that ends without the line is a killed process's.
func TestAStopIsLogged(t *testing.T) {
	var log bytes.Buffer
	i, err := New(Config{
		Journal: journal.NewMemory(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Admit: func(context.Context) (string, error) { return "anna", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	var l Listeners
	for _, to := range []*net.Listener{&l.Clients, &l.Operator} {
		if *to, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := i.Serve(ctx, l); err != nil || !strings.Contains(log.String(), "msg=stopping calls_in_flight=0 timeout=2s") {
		t.Errorf("%v, the log is %s", err, &log)
	}
}
