package plan

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/signsketch"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/tiers"
)

// opened is a small mechanism at ε = 1.
func opened(t *testing.T, mechanism string, cohort int, change func(*fl.Round)) fl.Mechanism {
	t.Helper()
	r := fl.Round{
		ID: "r", Mechanism: mechanism, Dim: 100, Scale: 1, Epsilon: 1, Relation: fl.ReplaceOne, MinReports: cohort, PublicSeed: [32]byte{1},
		Params: fl.Params{sparse.ParamSparsity: fl.Int(40)},
	}
	change(&r)
	_, m, err := fl.Complete(r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func spendingOf(t *testing.T, m fl.Mechanism, clients, cohort int, delta float64) *Spending {
	t.Helper()
	s, err := NewSpending(m, clients, cohort, delta)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParticipations(t *testing.T) {
	m := opened(t, coco.Name, 300, func(*fl.Round) {})
	for _, c := range []struct {
		clients int
		of      map[int]int
	}{
		{900, map[int]int{1: 1, 3: 1, 4: 2, 6: 2, 7: 3}},
		{1000, map[int]int{1: 1, 3: 1, 4: 2, 6: 2, 7: 3, 10: 3}}, // what one round leaves over begins the next
		{300, map[int]int{1: 1, 2: 2, 9: 9}},
	} {
		s := spendingOf(t, m, c.clients, 300, 1e-6)
		for rounds, want := range c.of {
			if got := s.Participations(rounds); got != want {
				t.Errorf("%d clients, %d rounds: %d participations, want %d", c.clients, rounds, got, want)
			}
		}
	}
}

// Several participations cost more than one and less than as many times one, and
// for sumdp what the optimal composition says.
func TestParticipationsCompose(t *testing.T) {
	const delta = 1e-6
	for _, mechanism := range []string{coco.Name, collision.Name, signsketch.Name, hdsum.Name} {
		m := opened(t, mechanism, 1000, func(r *fl.Round) {
			if mechanism == hdsum.Name {
				r.Params, r.Delta = nil, delta/8
			}
		})
		s := spendingOf(t, m, 3000, 1000, delta)
		one, previous := 0., 0.
		for _, rounds := range []int{3, 6, 9, 12} {
			p, err := s.Promise(t.Context(), rounds)
			if err != nil || p.Central == nil || p.Participations != rounds/3 || p.Delta != delta {
				t.Fatalf("%s, %d rounds: %+v, %v", mechanism, rounds, p, err)
			}
			if !(*p.Central > previous) {
				t.Errorf("%s, %d rounds: ε = %g after %g", mechanism, rounds, *p.Central, previous)
			}
			if previous = *p.Central; rounds == 3 {
				one = previous
			}
		}
		if !(previous < 4*one) {
			t.Errorf("%s: 4 participations cost %g, one %g", mechanism, previous, one)
		}
		if mechanism == hdsum.Name {
			want, err := privacy.Homogeneous{Epsilon: 1, Delta: delta / 8, Count: 4}.EpsilonAt(delta)
			if err != nil || previous < want*(1-1e-6) || previous > want*1.001 {
				t.Errorf("sumdp: 4 participations cost %g, optimal composition says %g, %v", previous, want, err)
			}
		}
	}
}

// One participation costs what the mechanism itself promises: the bound on shuffled
// reports, or else its guarantee.
func TestThePromiseIsTheMechanismsOwn(t *testing.T) {
	for _, mechanism := range []string{coco.Name, collision.Name} {
		m := opened(t, mechanism, 300, func(r *fl.Round) { r.Epsilon = 2 })
		p, err := spendingOf(t, m, 900, 300, 1e-4).Promise(t.Context(), 3)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.(fl.Amplifier).Shuffled().Epsilon(300, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		if p.Central == nil || *p.Central != want || p.Local == nil || *p.Local != 2 || p.LocalDelta != 0 || p.Participations != 1 {
			t.Errorf("%s: %+v, want 2 and %g", mechanism, p, want)
		}
	}
	shuffled := opened(t, hdsum.Name, 300, func(r *fl.Round) { r.Params, r.Delta = nil, 1e-6 })
	if p, err := spendingOf(t, shuffled, 300, 300, 1e-6).Promise(t.Context(), 1); err != nil || p.Local != nil || p.Central == nil || *p.Central != 1 {
		t.Errorf("sumdp: %+v, %v, want a central ε of 1", p, err)
	}
	// Its δ is not the promise's: nothing finite holds.
	if p, err := spendingOf(t, shuffled, 300, 300, 1e-7).Promise(t.Context(), 1); err == nil && (p.Central == nil || !math.IsInf(*p.Central, 1)) {
		t.Errorf("sumdp at a smaller δ: %+v, %v", p, err)
	}
	local := opened(t, baseline.Gaussian, 300, func(r *fl.Round) { r.Params, r.Delta = nil, 1e-8 })
	if p, err := spendingOf(t, local, 300, 300, 1e-6).Promise(t.Context(), 1); err != nil || *p.Local != 1 || p.LocalDelta != 1e-8 || *p.Central != 1 {
		t.Errorf("gaussian: %+v, %v, want 1 and 1", p, err)
	}
	// Clients choose: the promise covers those with the largest ε, which shuffling does not lower.
	menu := opened(t, tiers.Name, 300, func(r *fl.Round) {
		r.Epsilon = 2
		r.Params = r.Params.With(tiers.ParamBase, fl.Text(coco.Name)).With(tiers.ParamMenu, fl.Text("1,2"))
	})
	if p, err := spendingOf(t, menu, 300, 300, 1e-6).Promise(t.Context(), 1); err != nil || *p.Local != 2 || !(*p.Central >= 2-1e-5 && *p.Central < 2.01) {
		t.Errorf("tiers: %+v, %v, want 2 and 2", p, err)
	}
	none := spendingOf(t, opened(t, baseline.None, 300, func(r *fl.Round) { r.Epsilon, r.Params = math.Inf(1), nil }), 300, 300, 1e-6)
	if p, err := none.Promise(t.Context(), 5); err != nil || p.Local != nil || p.Central != nil || p.Participations != 5 {
		t.Errorf("no privacy: %+v, %v", p, err)
	}
	if n, err := none.Within(t.Context(), Shuffler, 1e-9, 5); err != nil || n != 5 {
		t.Errorf("no privacy: %d rounds within any budget, %v, want all 5", n, err)
	}
}

// A budget allows the rounds up to the first that exceeds it.
// The noise of a site composes as the noise of two servers does, and holds against everybody.
func TestSitesCompose(t *testing.T) {
	of := func(mechanism string, rounds int) Promise {
		m := opened(t, mechanism, 10, func(r *fl.Round) { r.Delta, r.Params = 1e-6, nil })
		p, err := spendingOf(t, m, 10, 10, 1e-6).Promise(t.Context(), rounds)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, rounds := range []int{1, 30} {
		site, two := of(hdsum.SiteName, rounds), of(hdsum.SharesName, rounds)
		if site.LocalTotal == nil || *site.LocalTotal != *two.Central || site.Central != nil || site.LocalDelta != 1e-6 || *site.Local != 1 {
			t.Errorf("%d rounds: %v, two servers: %v", rounds, site, two)
		}
		if rounds > 1 && !(*site.LocalTotal < 10) {
			t.Errorf("%d rounds cost %v", rounds, *site.LocalTotal)
		}
	}
}

func TestRoundsWithinABudget(t *testing.T) {
	s := spendingOf(t, opened(t, coco.Name, 500, func(*fl.Round) {}), 1000, 500, 1e-6)
	for want := range 9 {
		for _, more := range []float64{0, 1e-9} {
			budget := more
			if want > 0 {
				p, err := s.Promise(t.Context(), want)
				if err != nil {
					t.Fatal(err)
				}
				budget = *p.Central * (1 + more)
			}
			at := want
			if want%2 == 1 { // the next round has clients that took part as often
				at = min(8, want+1)
			}
			if got, err := s.Within(t.Context(), Shuffler, budget, 8); err != nil || got != at {
				t.Errorf("a budget of %g: %d rounds, want %d, %v", budget, got, at, err)
			}
		}
	}
}

func TestSpendingErrors(t *testing.T) {
	m := opened(t, coco.Name, 300, func(*fl.Round) {})
	for _, c := range []struct {
		clients, cohort int
		delta           float64
		param           string
	}{{300, 0, 1e-6, "cohort"}, {299, 300, 1e-6, "clients"}, {300, 300, 0, "delta"}, {300, 300, 1, "delta"}, {300, 300, math.NaN(), "delta"}} {
		var p *fl.ParamError
		if _, err := NewSpending(m, c.clients, c.cohort, c.delta); !errors.As(err, &p) || p.Param != c.param || !strings.HasPrefix(err.Error(), "plan: ") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	// What cannot be composed is known at once, and not by the first promise.
	guarantee := m.Guarantee()
	zeroOut := guarantee
	zeroOut.Relation = fl.ZeroOut
	for param, c := range map[string]struct {
		m      fl.Mechanism
		cohort int
	}{"clients": {m, 1}, "relation": {promising{m, zeroOut}, 300}} {
		var p *fl.ParamError
		if _, err := NewSpending(c.m, 300, c.cohort, 1e-6); !errors.As(err, &p) || p.Param != param || !strings.HasPrefix(err.Error(), "plan: ") {
			t.Errorf("error %v, want one about %s", err, param)
		}
	}
}

// promising is a mechanism with another guarantee.
type promising struct {
	fl.Mechanism
	guarantee fl.Guarantee
}

func (p promising) Guarantee() fl.Guarantee { return p.guarantee }

// curious counts how often its curve is asked for a δ.
type curious struct {
	fl.Mechanism
	fl.Amplification
	asked int
}

func (c *curious) Shuffled() fl.Amplification { return c }
func (c *curious) Delta(n int, epsilon float64) (float64, error) {
	c.asked++
	return c.Amplification.Delta(n, epsilon)
}

// The curve is asked for hundreds of δ by a composition, which waits for the first promise of several
// participations and serves all later ones.
func TestNothingIsComposedBeforeItIsNeeded(t *testing.T) {
	m := opened(t, coco.Name, 60, func(*fl.Round) {})
	c := &curious{Mechanism: m, Amplification: m.(fl.Amplifier).Shuffled()}
	s := spendingOf(t, c, 180, 60, 1e-6)
	if _, err := s.Promise(t.Context(), 3); err != nil || c.asked > 1 {
		t.Errorf("one participation: asked for %d δ, %v", c.asked, err)
	}
	if _, err := s.Promise(t.Context(), 4); err != nil || c.asked < 100 {
		t.Errorf("two participations: asked for %d δ, %v", c.asked, err)
	}
	asked := c.asked
	if _, err := s.Promise(t.Context(), 7); err != nil || c.asked > asked {
		t.Errorf("three participations: asked for %d more δ, %v", c.asked-asked, err)
	}
}

// Each number of reports of a client spends a whole budget: none is lost to rounding.
func TestSharesOfABudgetAddUpToIt(t *testing.T) {
	for _, budget := range []float64{0.1, 1, 2, 3, 4, 5, 7, 8} {
		for k := 1; k <= 100; k++ {
			share, err := shareOf(budget, k)
			if err != nil {
				t.Fatal(err)
			}
			all, _, err := privacy.BasicComposition(share, 0, k)
			if err != nil {
				t.Fatal(err)
			}
			more, _, err := privacy.BasicComposition(math.Nextafter(share, math.Inf(1)), 0, k)
			if err != nil {
				t.Fatal(err)
			}
			if all > budget || more <= budget {
				t.Errorf("%d reports of ε = %v have %v together, and the next larger ones %v: want the most within %v", k, share, all, more, budget)
			}
		}
	}
	run, err := Request{Mechanism: "auto", Trust: Nobody, Dim: 33, Clients: 200, Cohort: 200, Rounds: 5, Budget: 4, Delta: 1e-6, L1: 1, L2: 0.3, Force: true}.Run(t.Context())
	if err != nil || run.Affordable != 5 {
		t.Errorf("%d of 5 rounds are affordable, error %v", run.Affordable, err)
	}
	// Five reports of the number that 0.8 is to a computer have more than 4 together, and the words say so.
	run, err = Request{Mechanism: "coco", Trust: Nobody, Dim: 33, Clients: 200, Cohort: 200, Rounds: 5, Epsilon: 0.8, Budget: 4, Delta: 1e-6, L1: 1, L2: 0.3, Force: true}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var end strings.Builder
	if _, err := run.PrintEnd(t.Context(), &end, 4); err != nil || !strings.Contains(strings.Join(strings.Fields(end.String()), " "), "another round would make it 4.000000000000001") {
		t.Errorf("%d of 5 rounds are affordable: %s, error %v", run.Affordable, &end, err)
	}
}
