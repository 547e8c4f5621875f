package shuffler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/server/journal"
)

func TestMetricsCount(t *testing.T) {
	server, figures := newRecorder(), prometheus.NewRegistry()
	var log bytes.Buffer
	p := start(t, Config{Metrics: figures, Logger: slog.New(slog.NewTextHandler(&log, nil))}, server)
	r := newSealedRound(t, nil)
	other := newSealedRound(t, func(r *fl.Round) { r.ID = "other" })
	server.open(r.Round)
	server.open(other.Round)
	items := r.items(t, 6)
	server.reject = func(sealed []byte) bool { return string(sealed) == string(items[0]) }
	away := true
	server.refuse = func(int) error {
		if away {
			return status.Error(codes.Unavailable, "away")
		}
		return nil
	}
	p.keeps(t, r, 5, 1, append(items[:5:5], items[2])...)
	p.keeps(t, other, 2, 0, other.items(t, 2)...)
	p.refuses(t, "a bad message", codes.InvalidArgument, r, items[0][1:])
	check := func(when string, want ...string) {
		t.Helper()
		got := figuresOf(t, figures)
		for _, line := range want {
			if !slices.Contains(got, "hushgrad_shuffler_"+line) {
				t.Errorf("%s: no %q among %q", when, line, got)
			}
		}
	}
	check("before", "reports_total{accepted} 7", "reports_total{duplicate} 1", "refused_batches_total{InvalidArgument} 1",
		"held_reports 7", "rounds{enough} 1", "rounds{waiting} 1", "rounds{forwarding} 0")
	server.close("r")
	eventually(t, "forwarding", func() bool { return server.callsNow() > 0 })
	check("meanwhile", "rounds{forwarding} 1", "held_reports 7")
	server.with(func() { away = false })
	p.gone(t, "r", forwarded)
	check("afterwards", "forwarded_reports_total{counted} 4", "forwarded_reports_total{rejected} 1", "held_reports 2",
		"rounds{waiting} 1", "rounds{short} 0", "rounds{forwarding} 0")
	server.close("other") // with 2 of the reports that it needs
	eventually(t, "short", func() bool { return slices.Contains(figuresOf(t, figures), "hushgrad_shuffler_rounds{short} 1") })
	check("in the end", "rounds{waiting} 0", "held_reports 2")
	p.Close()
	if !strings.Contains(log.String(), `level=WARN msg="round forwarded" round=r reports=5 rejected_by_the_server=1`) {
		t.Errorf("no warning about the rejected report: %s", &log)
	}
	var param *fl.ParamError
	if _, err := New(Config{Name: testName, Upstream: p.cfg.Upstream, Journal: journal.NewMemory(), Metrics: figures}); !errors.As(err, &param) || param.Param != "Metrics" {
		t.Errorf("a second shuffler with the same figures: %v", err)
	}
}

// figuresOf returns all figures, as "name{label} value".
func figuresOf(t *testing.T, g prometheus.Gatherer) (lines []string) {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			line := f.GetName()
			for _, l := range m.GetLabel() {
				line += "{" + l.GetValue() + "}"
			}
			lines = append(lines, fmt.Sprintf("%s %g", line, m.GetCounter().GetValue()+m.GetGauge().GetValue()))
		}
	}
	return lines
}

// A log that ends without the line is a killed process's.
func TestAStopIsLogged(t *testing.T) {
	var log bytes.Buffer
	p := start(t, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, newRecorder())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Serve(ctx, Listeners{Clients: listener}); err != nil || !strings.Contains(log.String(), "msg=stopping calls_in_flight=0 timeout=2s") {
		t.Errorf("%v, the log is %s", err, &log)
	}
}
