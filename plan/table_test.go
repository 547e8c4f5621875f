package plan

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/privacy"
)

// rowOf returns the row of a trust.
func rowOf(t *testing.T, rows []Row, trust Trust) Row {
	t.Helper()
	for _, r := range rows {
		if r.Trust == trust {
			return r
		}
	}
	t.Fatalf("no row for %s in %+v", trust, rows)
	return Row{}
}

// Every trust has a row with the same budget, and no ε is above it. Trusting more has less noise.
func TestTrustsAreCompared(t *testing.T) {
	q := request
	q.Clients, q.Rounds, q.Budget, q.Seed = 2000, 2, 1, 1 // the figures are for runs without a seed
	rows, err := q.Compare(t.Context())
	if err != nil || len(rows) != len(Trusts()) {
		t.Fatalf("%+v, %v", rows, err)
	}
	nobody, shuffled, server := rowOf(t, rows, Nobody), rowOf(t, rows, Shuffler), rowOf(t, rows, Server)
	if nobody.Epsilon != 1 || nobody.Delta != 0 || *nobody.Local != 1 || shuffled.Epsilon > 1 || shuffled.Epsilon < 0.95 || !(*shuffled.Local > 1) || server.Local != nil {
		t.Errorf("nobody %+v, shuffler %+v, server %+v", nobody, shuffled, server)
	}
	if !(nobody.ErrorOfRun > shuffled.ErrorOfRun && shuffled.ErrorOfRun > server.ErrorOfRun) || !(nobody.Bytes < shuffled.Bytes && shuffled.Bytes < server.Bytes) {
		t.Errorf("nobody %+v, shuffler %+v, server %+v", nobody, shuffled, server)
	}
	// 2000 clients report once in the 2 rounds of a shuffler, or twice.
	if nobody.Reports != 1 || *nobody.LocalReport != 1 || shuffled.Reports > 2 || *shuffled.Local != float64(shuffled.Reports)**shuffled.LocalReport || server.Reports != 2 || server.LocalReport != nil {
		t.Errorf("nobody %+v, shuffler %+v, server %+v", nobody, shuffled, server)
	}
	if some, err := q.Compare(t.Context(), Server, Nobody); err != nil || !reflect.DeepEqual(some, []Row{server, nobody}) {
		t.Errorf("two trusts: %+v, %v", some, err)
	}
	var bad *fl.ParamError
	if _, err := q.Compare(t.Context(), "everybody"); !errors.As(err, &bad) || bad.Param != "trust" {
		t.Errorf("another trust: %v", err)
	}
	if own := rowOf(t, rows, OwnSite); own.Mechanism != "" || own.Why == "" {
		t.Errorf("a site of one's own: %+v", own)
	}
	var text strings.Builder
	if err := PrintRows(&text, rows, Client); err != nil {
		t.Fatal(err)
	}
	fitsATerminal(t, text.String())
	for _, r := range rows {
		if !strings.Contains(text.String(), string(r.Trust)) || r.Mechanism != "" && !strings.Contains(text.String(), r.Against) {
			t.Errorf("no %s in %s", r.Trust, text.String())
		}
	}
}

// Noise of sites is composed over the rounds by the accountant: its ε is within the budget, and not far below. A sparsity is the other
// mechanisms'.
func TestRowsOfGaussianNoiseKeepTheBudget(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	q := Request{Mechanism: "auto", Dim: 2000, Clients: 12, Records: 1200, Delta: 1e-6, Budget: 1, Rounds: 3, L1: 40, L2: 1, Clip: 1, Sparsity: 40}
	rows, err := q.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, two, server := rowOf(t, rows, OwnSite), rowOf(t, rows, TwoServers), rowOf(t, rows, Server)
	// Both mechanisms round, which costs less than 1 %.
	for parts, r := range map[float64]Row{12: own, 2: two} {
		if ratio := r.Error / server.Error / math.Sqrt(parts); !(ratio > 1 && ratio < 1.01) {
			t.Errorf("%s: %g of the noise of %g servers", r.Trust, ratio, parts)
		}
		if r.Epsilon > 1 || r.Epsilon < 0.999 || r.Delta != 1e-6 || r.Local != nil {
			t.Errorf("%+v", r)
		}
	}
	multiplier := server.Error * 1200 / math.Sqrt(2000) / 2 // over the sensitivity of a round
	all, err := privacy.Compose(t.Context(), []privacy.Event{{Kind: privacy.KindGaussian, Sigma: multiplier, Count: 3}}, privacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := all.Epsilon(t.Context(), 1e-6); err != nil || b.Lower > 1 || b.Upper < 0.995 {
		t.Errorf("3 rounds have an ε in %+v, want 1: %v", b, err)
	}
	if server.Mechanism != baseline.Gaussian || server.Bytes != 4*2000*3 || own.Mechanism != hdsum.SiteName || two.Mechanism != hdsum.SharesName || !(own.Bytes > 2000*3*2) {
		t.Errorf("server %+v, own site %+v, two servers %+v", server, own, two)
	}
}

// A run of records keeps the budget for one record, in all rounds that the sites take part in. Its rounds have sums.
func TestRunsOfRecordsKeepTheBudget(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	q := Request{Mechanism: "auto", Dim: 2000, Clients: 12, Records: 12_000, Delta: 1e-6, Budget: 2, L1: 40, L2: 1}
	for _, c := range []struct {
		trust     Trust
		mechanism string
		says      string
	}{{OwnSite, hdsum.SiteName, "against everybody outside of its site"}, {TwoServers, hdsum.SharesName, "(replace one record), against either server alone"}} {
		q.Trust = c.trust
		run, err := q.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if run.Mechanism != c.mechanism || run.Clients != 12 || run.Cohort != 12 || run.Records != 12_000 || run.Unit != Record || run.Rounds != 30 || run.Affordable != 30 || run.Template.Params[fl.ParamRecords] != fl.Int(12_000) {
			t.Errorf("%s: %+v", c.trust, run)
		}
		p, err := run.Promise(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		total := p.Central
		if c.trust == OwnSite {
			total = p.LocalTotal
		}
		if total == nil || *total > 2 || *total < 1.999 || p.Unit != Record || p.Participations != 30 {
			t.Errorf("%s: %+v", c.trust, p)
		}
		var text strings.Builder
		if err := errors.Join(p.Print(&text), run.PrintStart(&text, true)); err != nil || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), c.says) || strings.Contains(text.String(), "nobody outside of a site is trusted") != (c.trust == OwnSite) || !strings.Contains(text.String(), "of which 30 are") || !strings.Contains(text.String(), "A person with several records is protected less") {
			t.Errorf("%v: %s", err, text.String())
		}
	}
	q.Trust, q.Budget = OwnSite, 0
	if run, err := q.Run(t.Context()); err != nil || run.Budget != 1 || run.Affordable != 30 {
		t.Errorf("without a budget: %+v, %v", run, err)
	}
	q.Trust, q.Budget, q.Rounds = Shuffler, 1, 2 // a report of each record
	run, err := q.Run(t.Context())
	if err != nil || run.Clients != 12_000 || run.Records != 0 || run.Unit != Record || !strings.Contains(run.String(), "records, each record ") {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestRecordsAreChecked(t *testing.T) {
	for _, c := range []struct {
		param  string
		change func(q *Request)
	}{
		{"records", func(q *Request) { q.Records = 9 }}, {"records", func(q *Request) { q.Records = -1 }},
		{"records", func(q *Request) { q.Records, q.Trust = 0, OwnSite }}, {"cohort", func(q *Request) { q.Cohort = 5 }},
		{"clients", func(q *Request) { q.Clients = 1 }}, {"trust", func(q *Request) { q.Mechanism, q.Trust = "coco", OwnSite }},
		{"sparsity", func(q *Request) { q.Sparsity = 4 }}, {"max epsilon", func(q *Request) { q.MaxEpsilon = 4 }},
		{"trust", func(q *Request) { q.Mechanism, q.Trust = hdsum.SiteName, TwoServers }}, {"records", func(q *Request) { q.Mechanism = hdsum.Name }},
	} {
		q := Request{Mechanism: "auto", Dim: 20, Clients: 10, Records: 100, Delta: 1e-6, L1: 4, L2: 1}
		c.change(&q)
		var bad *fl.ParamError
		if _, err := q.Run(t.Context()); !errors.As(err, &bad) || bad.Param != c.param {
			t.Errorf("%+v: %v, want an error about %s", q, err, c.param)
		}
	}
	q := Request{Mechanism: "auto", Dim: 20, Clients: 10, Records: 9, Delta: 1e-6, L1: 4, L2: 1}
	var bad *fl.ParamError
	if _, err := q.Compare(t.Context()); !errors.As(err, &bad) || bad.Param != "records" {
		t.Errorf("compared: %v", err)
	}
}

// A run with proofs has the mechanism with proofs, says what they bound, and is beside the trusts that have none.
func TestProofsArePlanned(t *testing.T) {
	if !*Long {
		t.Skip("takes a second: go test -long")
	}
	q := Request{Mechanism: "auto", Trust: TwoServers, Proof: hdsum.ProofPrio3, Dim: 20, Clients: 100, Rounds: 2, Budget: 1, Delta: 1e-6, L1: 4, L2: 1}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := run.Opened.(fl.ProvedMechanism); !ok || !strings.Contains(strings.Join(run.Remarks(), "\n"), "1 % of the clients, with reports that they make up, can move a mean, if both servers are honest, by up to 0.015 times the clip.") {
		t.Errorf("%T: %q", run.Opened, run.Remarks())
	}
	rows, err := q.Compare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if shuffled, two := rowOf(t, rows, Shuffler), rowOf(t, rows, TwoServers); shuffled.Mechanism == "" || two.Bytes < 128*20 {
		t.Errorf("%+v, %+v", shuffled, two)
	}
	for _, change := range []func(q *Request){
		func(q *Request) { q.Proof = "snark" }, func(q *Request) { q.Trust = Shuffler }, func(q *Request) { q.Mechanism = baseline.None },
		func(q *Request) { q.Records = 1000 },
	} {
		q := q
		change(&q)
		var bad *fl.ParamError
		if _, err := q.Run(t.Context()); !errors.As(err, &bad) || bad.Param != "proof" {
			t.Errorf("%+v: %v, want an error about proof", q, err)
		}
	}
}

// requireOtherTrusts compares trusts for a request about two servers, for clients and for sites: what is for two servers alone does not refuse the others.
func requireOtherTrusts(t *testing.T, q Request) {
	t.Helper()
	rows, err := q.Compare(t.Context(), Shuffler, TwoServers)
	if err != nil || rowOf(t, rows, Shuffler).Mechanism == "" || rowOf(t, rows, TwoServers).Mechanism != hdsum.SharesName {
		t.Errorf("%+v, %v", rows, err)
	}
	sites := q
	sites.Records, sites.Cohort = 5000, 0
	if rows, err := sites.Compare(t.Context()); err != nil || rowOf(t, rows, OwnSite).Mechanism != hdsum.SiteName || rowOf(t, rows, TwoServers).Mechanism != hdsum.SharesName {
		t.Errorf("with records: %+v, %v", rows, err)
	}
}

// A run whose clients add noise of their own keeps to both budgets, within the search's precision, and its error has the noise of all clients. The trusts beside it have
// none.
func TestOwnNoiseIsPlanned(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	q := Request{Mechanism: "auto", Trust: TwoServers, Dim: 20, Clients: 100, Cohort: 100, Rounds: 3, Budget: 1, OwnBudget: 8, Delta: 1e-6, L1: 4, L2: 1}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Promise(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if p.Central == nil || p.LocalTotal == nil || !(*p.Central <= 1 && *p.Central > 0.999) || !(*p.LocalTotal <= 8 && *p.LocalTotal > 7.99) || p.LocalDelta != 1e-6 {
		t.Fatalf("%+v", p)
	}
	if words := fmt.Sprint(p.Words()); !strings.Contains(words, "against everybody, the server included") || !strings.Contains(words, "against either server alone") {
		t.Error(words)
	}
	if remarks := fmt.Sprint(run.Remarks()); strings.Contains(remarks, "no local ε") || !strings.Contains(remarks, "both servers together") {
		t.Error(remarks)
	}
	q.OwnBudget = 0
	bare, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, _ := run.Opened.(fl.OwnNoised).OwnGuarantee()
	// 100 clients' variances beside two servers', all of the same sensitivity.
	ratio := math.Sqrt(1 + 100*own.Sigma*own.Sigma/(2*run.Opened.Guarantee().Sigma*run.Opened.Guarantee().Sigma))
	if got := run.standardError(run.Opened) / run.Template.Scale / (bare.standardError(bare.Opened) / bare.Template.Scale); math.Abs(got/ratio-1) > 0.01 {
		t.Errorf("%g times the error, want %g", got, ratio)
	}
	q.OwnBudget = 8
	requireOtherTrusts(t, q)
	for _, change := range []func(*Request){
		func(q *Request) { q.OwnBudget = 0.9 }, func(q *Request) { q.Proof = hdsum.ProofPrio3 }, func(q *Request) { q.Trust = Nobody }, func(q *Request) { q.OwnBudget = math.NaN() },
	} {
		q := q
		change(&q)
		var bad *fl.ParamError
		if _, err := q.Run(t.Context()); !errors.As(err, &bad) || bad.Param != "own budget" {
			t.Errorf("%+v: %v", q, err)
		}
	}
}
