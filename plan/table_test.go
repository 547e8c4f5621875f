package plan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
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
	rows, err := q.Compare(t.Context(), nil)
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

// Noise of sites is composed over the rounds by the accountant: its ε is within the budget, and not far below.
func TestRowsOfGaussianNoiseKeepTheBudget(t *testing.T) {
	q := Request{Mechanism: "auto", Dim: 2000, Delta: 1e-6, Budget: 1, Rounds: 3, L1: 40, L2: 1}
	sites := &Sites{Sites: 12, Records: 1200}
	rows, err := q.Compare(t.Context(), sites)
	if err != nil {
		t.Fatal(err)
	}
	own, server := rowOf(t, rows, OwnSite), rowOf(t, rows, Server)
	if ratio := own.Error / server.Error; math.Abs(ratio-math.Sqrt(12)) > 1e-9 {
		t.Errorf("12 sites have %g of a server's noise", ratio)
	}
	multiplier := server.Error * 1200 / math.Sqrt(2000) / 2 // over the sensitivity of a round
	all, err := privacy.Compose(t.Context(), []privacy.Event{{Kind: privacy.KindGaussian, Sigma: multiplier, Count: 3}}, privacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := all.Epsilon(t.Context(), 1e-6); err != nil || b.Lower > 1 || b.Upper < 0.995 {
		t.Errorf("3 rounds have an ε in %+v, want 1: %v", b, err)
	}
	if two := rowOf(t, rows, TwoServers); two.Why == "" {
		t.Errorf("two servers: %+v", two)
	}
	if own.Mechanism != baseline.Gaussian || own.Bytes != 4*2000*3 {
		t.Errorf("own site: %+v", own)
	}
}

func TestSitesAreChecked(t *testing.T) {
	for param, s := range map[string]Sites{"records": {Sites: 1, Records: 1}, "sites": {Sites: 0, Records: 10}} {
		var bad *fl.ParamError
		if _, err := request.Compare(t.Context(), &s); !errors.As(err, &bad) || bad.Param != param {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
