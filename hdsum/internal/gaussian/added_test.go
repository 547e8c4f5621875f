package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

// ownRound is a round of two servers at ε = 4 whose clients add noise of their own, for ε = 6.
func ownRound(dim int) fl.Round {
	r := testRound(dim)
	r.Params = fl.Params{ParamOwnEpsilon: fl.Real(6)}
	return r
}

func TestOwnNoiseKeepsTheContract(t *testing.T) {
	for _, dim := range []int{1, 3, 20} {
		r, _, err := fl.Complete(ownRound(dim))
		if err != nil {
			t.Fatal(err)
		}
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("dim %d: %v", dim, err)
		}
	}
}

// The servers' guarantee is as without the clients' noise, and the clients' is a site's of the same ε.
func TestOwnNoisePromisesWhatASiteDoes(t *testing.T) {
	m, r := open(t, ownRound(5)), siteRound(5)
	r.Epsilon = 6
	if g, ok := m.OwnGuarantee(); !ok || g != openSite(t, r).Guarantee() {
		t.Errorf("own: %+v, want %+v", g, openSite(t, r).Guarantee())
	}
	plain := open(t, testRound(5))
	if g, ok := plain.OwnGuarantee(); ok || m.Guarantee() != plain.Guarantee() {
		t.Errorf("servers': %+v, want %+v; own noise of nobody: %+v", m.Guarantee(), plain.Guarantee(), g)
	}
	for i, c := range []struct {
		param  string
		change func(*fl.Round)
	}{
		{"relation", func(r *fl.Round) { r.Relation = fl.ZeroOut }},
		{ParamOwnEpsilon, func(r *fl.Round) { r.Params[ParamOwnEpsilon] = fl.Real(3.9) }},
		{ParamOwnEpsilon, func(r *fl.Round) { r.Params[ParamOwnEpsilon] = fl.Real(math.NaN()) }},
		{ParamOwnEpsilon, func(r *fl.Round) { r.Params[ParamProof] = fl.Text(Prio3) }},
	} {
		r := ownRound(5)
		c.change(&r)
		if _, err := fl.Open(r); !isParam(err, c.param) {
			t.Errorf("%d: %v, want an error about %s", i, err, c.param)
		}
	}
}

// Both shares together are the rounded gradient and the client's noise: the whole noise of a site, or a part of the servers'. 64 coordinates of
// 400 reports of the zero vector, in 20 cells of a probability of 1/20 each.
func TestBothServersTogetherSeeTheClientsNoise(t *testing.T) {
	for name, r := range map[string]fl.Round{"own": ownRound(64), "honest": honestRound(64, 30)} {
		requireClientsNoise(t, name, open(t, r))
	}
}

func requireClientsNoise(t *testing.T, name string, m *mechanism) {
	t.Helper()
	law := distuv.Normal{Sigma: m.added.noise.sigma}
	counts, expected, rng := make([]float64, 20), make([]float64, 20), newRand(22)
	const reports = 400
	for i := range expected {
		expected[i] = reports * 64 / 20
	}
	for range reports {
		report, err := m.Encode(nil, make([]float64, 64), rng)
		if err != nil {
			t.Fatal(err)
		}
		both := m.newTotal()
		both.Count(report)
		for _, v := range both.sum.values() {
			counts[min(19, int(20*law.CDF(v+0.5)))]++
		}
	}
	requireCounts(t, name, counts, expected)
}

// Three clients with 5, 1 and 30 records, each with its own noise, and both servers' noise: the mean is over 36 records, and the stated error is
// of five noises. 20 normal variables are all within 6 standard errors but with probability 4e-8.
func TestOwnNoiseIsInTheError(t *testing.T) {
	r := ownRound(20)
	r.Params[fl.ParamRecords] = fl.Int(40)
	m := open(t, r)
	a, want := m.NewAggregator(), make([]float64, 20)
	for i, records := range []int{5, 1, 30} {
		grad := make([]float64, 20)
		grad[i] = 1
		want[i] = float64(records) / 36
		if err := a.Add(reportOf(t, m, byte(70+i), records, grad)); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	stated := m.integers.deviation((2*m.noise.variance() + 3*m.added.variance() + 36./4) / 36 / 36)
	for j, v := range e.Mean().Value {
		if se := e.Mean().StdErr[j]; !(math.Abs(v-want[j]) <= 6*se) || math.Abs(se/stated-1) > 1e-9 {
			t.Errorf("coordinate %d: %g ± %g, want %g ± %g", j, v, se, want[j], stated)
		}
	}
	if got := m.StandardError(36, 3); math.Abs(got/stated-1) > 1e-9 {
		t.Errorf("planned error %g, want %g", got, stated)
	}
	if least := 12 * (math.Sqrt2*m.noise.sigma + math.Sqrt(float64(m.reports()))*m.added.noise.sigma); m.largest(40, bothNoises) < least {
		t.Errorf("room for %g, want %g for the noise alone", m.largest(40, bothNoises), least)
	}
}

// The noises of 8 clients and of two servers were rounded down, by a half on average: a sum of 5 below zero is zero.
func TestRoundingDownOfOwnNoiseIsTakenBack(t *testing.T) {
	m := open(t, ownRound(5))
	below := m.newTotal()
	for i := range below.sum.(*ringSum).residues {
		below.sum.(*ringSum).residues[i] = 1<<64 - 5
	}
	e, err := m.estimate(below, 8)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range e.Mean().Value {
		if v != 0 {
			t.Errorf("coordinate %d: %g, want 0", j, v)
		}
	}
}
