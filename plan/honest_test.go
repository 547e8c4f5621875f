package plan

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// A run whose clients add a part of the noise keeps to both budgets, within the search's precision, and its error is as much smaller than without them as the
// variances say. The trusts beside it have no such noise.
func TestHonestNoiseIsPlanned(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	q := Request{Mechanism: "auto", Trust: TwoServers, Dim: 20, Clients: 100, Cohort: 100, Rounds: 3, HonestBudget: 1, Delta: 1e-6, L1: 4, L2: 1}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Promise(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if p.Central == nil || p.Honest == nil || !(*p.Central <= 2 && *p.Central > 1.998) || !(*p.Honest <= 1 && *p.Honest > 0.998) || p.Local != nil || p.HonestReports != 90 || p.Reports != 100 {
		t.Fatalf("%+v", p)
	}
	if text := p.String(); !strings.Contains(text, "central ε = 2 against either server alone") || !strings.Contains(text, "1 if 90 of 100 clients are honest") {
		t.Error(text)
	}
	if words := fmt.Sprint(p.Words()); !strings.Contains(words, "if 90 or more of the 100 reports of each round are of honest clients") {
		t.Error(words)
	}
	if remarks := fmt.Sprint(run.Remarks()); !strings.Contains(remarks, "90 of the 100 reports") {
		t.Error(remarks)
	}
	g, reports, _ := run.Opened.(fl.HonestNoised).HonestGuarantee()
	server, whole := run.Opened.Guarantee().Sigma, g.Sigma
	q.HonestBudget, q.Budget = 0, 1
	bare, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Two servers, and 100 clients of whom 90 have what is missing, beside two servers with all.
	ratio := math.Sqrt((2*server*server + 100./float64(reports)*(whole*whole-server*server)) / (2 * whole * whole))
	if got := run.standardError(run.Opened) / run.Template.Scale / (bare.standardError(bare.Opened) / bare.Template.Scale); math.Abs(got/ratio-1) > 0.01 || ratio > 0.85 {
		t.Errorf("%g times the error, want %g", got, ratio)
	}
	q.HonestBudget, q.Honest, q.Budget = 1, 0.5, 3
	half, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := half.Template.Params.Int(hdsum.ParamHonestReports); err != nil || n != 50 {
		t.Errorf("%d honest reports, want 50: %v", n, err)
	}
	requireOtherTrusts(t, q)
}

func TestHonestBudgetsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"honest budget: got 3":   func(q *Request) { q.HonestBudget = 3 },
		"honest budget: got 1":   func(q *Request) { q.Trust = Nobody },
		"honest budget: got -1":  func(q *Request) { q.HonestBudget = -1 },
		"honest budget: got NaN": func(q *Request) { q.HonestBudget = math.NaN() },
		"honest budget: got 1, ": func(q *Request) { q.Proof = hdsum.ProofPrio3 },
		"honest budget: got 1,":  func(q *Request) { q.OwnBudget = 8 },
		"honest: got 1.5":        func(q *Request) { q.Honest = 1.5 },
		"honest: got 0.5":        func(q *Request) { q.Honest, q.HonestBudget = 0.5, 0 },
	} {
		q := Request{Mechanism: "auto", Trust: TwoServers, Dim: 20, Clients: 100, Rounds: 3, Budget: 3, HonestBudget: 1, Delta: 1e-6, L1: 4, L2: 1}
		change(&q)
		var bad *fl.ParamError
		if _, err := q.Run(t.Context()); !errors.As(err, &bad) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error with %q", err, name)
		}
	}
}
