package server_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"

	"github.com/hushgrad/hushgrad/internal/service"
	"github.com/hushgrad/hushgrad/server"
)

func TestMetricsSayWhatWasCounted(t *testing.T) {
	figures := prometheus.NewRegistry()
	p := start(t, server.Config{Metrics: figures})
	r := open(t, p, cocoRound("r"))
	part := join(t, p, "r")
	first, second := encode(t, part, 3), encode(t, part, 1)
	bad := request(t, r, 3, second...)
	bad.RoundDigest[0]++
	for _, c := range []struct {
		what string
		err  error
		code codes.Code
	}{
		{"a batch", justError(submit(t, p, request(t, r, 1, first...))), codes.OK},
		{"the batch again, and another", justError(submit(t, p, request(t, r, 1, first...), request(t, r, 2, second...))), codes.OK},
		{"another round's batch", justError(submit(t, p, bad)), codes.FailedPrecondition},
	} {
		wantCode(t, c.what, c.err, c.code)
	}
	open(t, p, cocoRound("s"))
	if err := p.operator.AbortRound(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("BYTES", strconv.Itoa(7*len(first[0]))).Replace(`
		# HELP hushgrad_batches_total Batches of reports, by result: accepted, which includes those that were sent again, or refused.
		# TYPE hushgrad_batches_total counter
		hushgrad_batches_total{result="accepted"} 3
		hushgrad_batches_total{result="refused"} 1
		# HELP hushgrad_connections Open connections.
		# TYPE hushgrad_connections gauge
		hushgrad_connections{listener="clients"} 0
		hushgrad_connections{listener="http"} 0
		hushgrad_connections{listener="operator"} 1
		hushgrad_connections{listener="shuffler"} 0
		# HELP hushgrad_failed_commits_total Changes that the journal could not keep.
		# TYPE hushgrad_failed_commits_total counter
		hushgrad_failed_commits_total 0
		# HELP hushgrad_refused_batches_total Refused batches by reason: the gRPC code of the answer.
		# TYPE hushgrad_refused_batches_total counter
		hushgrad_refused_batches_total{reason="FailedPrecondition"} 1
		# HELP hushgrad_report_bytes_total Bytes of the reports of accepted batches.
		# TYPE hushgrad_report_bytes_total counter
		hushgrad_report_bytes_total BYTES
		# HELP hushgrad_reports_total Reports of accepted batches and of the shuffler, by result: accepted, or duplicate when they had been counted before.
		# TYPE hushgrad_reports_total counter
		hushgrad_reports_total{result="accepted"} 4
		hushgrad_reports_total{result="duplicate"} 3
		# HELP hushgrad_rounds Rounds that the server keeps, by state.
		# TYPE hushgrad_rounds gauge
		hushgrad_rounds{state="aborted"} 1
		hushgrad_rounds{state="closed"} 0
		hushgrad_rounds{state="expired"} 0
		hushgrad_rounds{state="failed"} 0
		hushgrad_rounds{state="open"} 1
		# HELP hushgrad_suspect_coordinates_total Coordinates of estimates at which more reports agree than honest clients send: an alarm. It is false with a probability of at most 1e-6 a round.
		# TYPE hushgrad_suspect_coordinates_total counter
		hushgrad_suspect_coordinates_total 0
`)
	err := testutil.GatherAndCompare(figures, strings.NewReader(want), "hushgrad_batches_total", "hushgrad_connections", "hushgrad_failed_commits_total",
		"hushgrad_refused_batches_total", "hushgrad_report_bytes_total", "hushgrad_reports_total", "hushgrad_rounds", "hushgrad_suspect_coordinates_total")
	if err != nil {
		t.Error(err)
	}
	got, err := figures.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range got {
		if family.GetName() == "hushgrad_decode_seconds" {
			if n := family.GetMetric()[0].GetHistogram().GetSampleCount(); n != 2 {
				t.Errorf("%d batches were decoded, want 2", n)
			}
		}
	}
	if _, err := server.New(server.Config{Metrics: figures}); err == nil || !strings.Contains(err.Error(), "Metrics") {
		t.Errorf("a registry with the figures of another server: error %v", err)
	}
}

// Why sealed reports do not count is visible, and how many came.
func TestMetricsSayWhyReportsAreRejected(t *testing.T) {
	figures := prometheus.NewRegistry()
	var log bytes.Buffer
	p, i := start(t, server.Config{Metrics: figures, Seal: newKeys(t), Logger: slog.New(slog.NewTextHandler(&log, nil))}), theIssuer(t)
	r := openAdmitted(t, p, i, shuffled(cocoRound("r")))
	reports, good, other := made(t, r, 2), token(t, i, "anna", r), token(t, i, "ben", r)
	all := sealed(t, r,
		slices.Concat(assigned(reports[0], good), good),
		slices.Concat(assigned(reports[1], good), good),
		slices.Concat(reports[1], make([]byte, len(good))),
		slices.Concat(bytes.Repeat([]byte{0xFF}, len(reports[0])), other),
	)
	for range 2 {
		if rejected, err := forward(t, p, r, append(all, make([]byte, len(all[0])))...); err != nil || len(rejected) != 4 {
			t.Fatalf("%v, %v", rejected, err)
		}
	}
	want := `
		# HELP hushgrad_forwarded_reports_total Sealed reports that the shuffler has forwarded, each time.
		# TYPE hushgrad_forwarded_reports_total counter
		hushgrad_forwarded_reports_total 10
		# HELP hushgrad_rejected_reports_total Sealed reports that do not count, by reason, each time that the shuffler forwards them: sealed (cannot be opened), token (missing or bad), spent (its token, on another report) or report (refused by the mechanism).
		# TYPE hushgrad_rejected_reports_total counter
		hushgrad_rejected_reports_total{reason="report"} 2
		hushgrad_rejected_reports_total{reason="sealed"} 2
		hushgrad_rejected_reports_total{reason="spent"} 2
		hushgrad_rejected_reports_total{reason="token"} 2
		# HELP hushgrad_reports_total Reports of accepted batches and of the shuffler, by result: accepted, or duplicate when they had been counted before.
		# TYPE hushgrad_reports_total counter
		hushgrad_reports_total{result="accepted"} 1
		hushgrad_reports_total{result="duplicate"} 1
		# HELP hushgrad_spent_tokens_total Tokens that were spent on reports, each once.
		# TYPE hushgrad_spent_tokens_total counter
		hushgrad_spent_tokens_total 1
`
	if err := testutil.GatherAndCompare(figures, strings.NewReader(want), "hushgrad_forwarded_reports_total", "hushgrad_rejected_reports_total",
		"hushgrad_reports_total", "hushgrad_spent_tokens_total"); err != nil {
		t.Error(err)
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), `level=WARN msg="sealed reports do not count"`); n != 2 || !strings.Contains(log.String(), "rejected=4 of=5") {
		t.Errorf("%d warnings, want one for each message: %s", n, &log)
	}
}

// A token that comes again is not spent again, and a batch without tokens spends none.
func TestMetricsCountATokenOnce(t *testing.T) {
	figures := prometheus.NewRegistry()
	p, i := start(t, server.Config{Metrics: figures}), theIssuer(t)
	plain, r := open(t, p, cocoRound("plain")), openAdmitted(t, p, i, cocoRound("r"))
	reports := made(t, r, 3)
	first := [][]byte{token(t, i, "anna", r), token(t, i, "bert", r)}
	all := append(first, token(t, i, "carla", r))
	resp, err := submit(t, p, admitted(t, r, first, reports[:2]...), admitted(t, r, all, reports...))
	if err != nil || resp.GetAccepted() != 3 || resp.GetDuplicates() != 2 {
		t.Fatal(resp, err)
	}
	wantCode(t, "another report", justError(submit(t, p, admitted(t, r, first[:1], reports[1]))), codes.AlreadyExists)
	wantCode(t, "without a token", justError(submit(t, p, request(t, plain, 1, reports[0]))), codes.OK)
	want := `
		# HELP hushgrad_spent_tokens_total Tokens that were spent on reports, each once.
		# TYPE hushgrad_spent_tokens_total counter
		hushgrad_spent_tokens_total 3
`
	if err := testutil.GatherAndCompare(figures, strings.NewReader(want), "hushgrad_spent_tokens_total"); err != nil {
		t.Error(err)
	}
}

func justError(_ *service.SubmitReportsResponse, err error) error { return err }
