package plan

import (
	"flag"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/sparse"
)

// joint is a demand under which more slots than are best for an ε pay.
var joint = Demand{Dim: 1970, Sparsity: 73, Clients: 60000, Rounds: 30, Participations: 30, Epsilon: 0.1, Delta: 1e-6}

var Long = flag.Bool("long", false, "search through all numbers of slots")

// The plan of each mechanism is as good as the best of its numbers of slots, each solved for by
// itself: of every second one, and with -long of all. Half a percent is what the end of the search
// for ε leaves open.
func TestSlotsAndEpsilonAreChosenTogether(t *testing.T) {
	if !*Long {
		t.Skip("a search through all numbers of slots")
	}
	some := Demand{Dim: 800, Sparsity: 30, Clients: 2000, Rounds: 3, Participations: 3, Epsilon: 0.25, Delta: 1e-6}
	small := Demand{Dim: 300, Sparsity: 20, Clients: 500, Rounds: 4, Participations: 4, Epsilon: 0.5, Delta: 1e-5}
	next := 4
	if *Long {
		next = 2
	}
	for name, change := range map[string]func() Demand{
		"some clients":       func() Demand { return some },
		"once each":          func() Demand { d := some; d.Participations = 1; return d },
		"few clients, once":  func() Demand { d := small; d.Participations = 1; return d },
		"a handful":          func() Demand { d := small; d.Clients = 9; return d },
		"odd sparsity":       func() Demand { d := small; d.Sparsity, d.Dim = 33, 2000; return d },
		"a limit that binds": func() Demand { d := some; d.EpsilonLocal = 2; return d },
		"a limit that ends":  func() Demand { d := some; d.EpsilonLocal = 0.3; return d },
	} {
		d, each := change(), newSearch()
		for _, c := range mechanisms.Schemes() {
			got, err := newSearch().plan(t.Context(), c, d)
			if err != nil {
				t.Fatal(err)
			}
			if got.EpsilonCentral > d.Epsilon || d.EpsilonLocal > 0 && got.EpsilonLocal > d.EpsilonLocal {
				t.Errorf("%s: %+v is beyond %+v", name, got, d)
			}
			for slots := 2; slots <= 1<<12; slots *= next {
				p := d.point()
				p.Slots, p.Epsilon = slots, 1
				if _, err := c.Calibration(p); err != nil {
					continue // not a number for this mechanism
				}
				local, err := each.localFor(t.Context(), c, d, slots, weightWithin(d.Epsilon, d.Delta, d.cohort(), d.Participations))
				if err != nil {
					t.Fatal(err)
				}
				if other, err := each.planWith(t.Context(), c, d, slots, local); err != nil || other.Error < got.Error*0.995 {
					t.Errorf("%s, %s: t = %d with ε = %g has the error %g, the plan %+v, %v", name, c.Name(), slots, local, other.Error, got, err)
				}
			}
		}
	}
}

// The norms of gradients of softmax regression on edges, with 1970 coordinates.
const edgesL1, edgesL2 = 7.121229, 1.414214

// The example of docs/training.md: the same central ε buys an error 1.25 times smaller.
func TestSlotsBuyAccuracy(t *testing.T) {
	d := joint
	q := Training{Dim: d.Dim, Clients: d.Clients, Rounds: d.Rounds, Epsilon: d.Epsilon, Delta: d.Delta, L1: edgesL1, L2: edgesL2}
	if !*Long { // the mechanism that is best, and each client in every round
		q.Mechanism, q.Participations = coco.Name, d.Rounds
	}
	s, err := q.Schedule(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Sparsity != 73 || s.Slots != 4096 || s.EpsilonLocal < 2.04 || s.EpsilonLocal > 2.08 || s.Noise > 0.00596 || s.EpsilonCentral > 0.1 {
		t.Errorf("planned %+v", s)
	}
	f := s.FewerSlots
	if f == nil || f.Slots >= s.Slots || f.EpsilonLocal > 0.7*s.EpsilonLocal || f.Error < 1.2*s.Error || f.EpsilonCentral > 0.1 || f.EpsilonCentral < 0.099 {
		t.Fatalf("fewer slots %+v", f)
	}
	scheme := mechanisms.Schemes()[0]
	for _, c := range mechanisms.Schemes() {
		if c.Name() == f.Mechanism {
			scheme = c
		}
	}
	p := sparse.Point{Dim: d.Dim, Sparsity: s.Sparsity, Epsilon: f.EpsilonLocal}
	if alone, err := scheme.BestSlots(p); err != nil || alone != f.Slots {
		t.Errorf("%d slots are best for %+v, %v", alone, f, err)
	}
}

// Four times the rounds have the error of the run that four reports are said to have.
func TestFourReportsAreFourTimesTheRounds(t *testing.T) {
	limits := []float64{3, 0}
	if !*Long {
		limits = limits[:1]
	}
	for _, limit := range limits {
		q := Training{Mechanism: coco.Name, Dim: 650, Clients: 6000, Rounds: 8, Participations: 8, Epsilon: 1, EpsilonLocal: limit, Delta: 1e-6, L1: 6, L2: 1.4}
		s, err := q.Schedule(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		q.Rounds, q.Participations = 32, 32
		more, err := q.Schedule(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.NoiseOfFour, more.Considered[0].NoiseOfRun; math.Abs(got/want-1) > 0.02 || got >= s.Considered[0].NoiseOfRun {
			t.Errorf("limit %g: four reports have %g, four times the rounds %g, and one %g", limit, got, want, s.Considered[0].NoiseOfRun)
		}
	}
	q := Training{Dim: 650, Clients: 6000, Rounds: 8, EpsilonLocal: 1, Delta: 1e-6, L1: 6, L2: 1.4}
	if s, err := q.Schedule(t.Context()); err != nil || s.NoiseOfFour != 0 || s.FewerSlots != nil {
		t.Errorf("without a central budget: %+v, %v", s, err)
	}
}

// A run's rounds have the planned slots, not those that are best for their ε. What is promised is
// what the opened mechanism says, and what is accounted for the same round with fewer slots is not.
func TestRoundsHaveThePlannedSlots(t *testing.T) {
	q := Request{Mechanism: coco.Name, Trust: Shuffler, Dim: 1970, Clients: 60000, Rounds: 4, Budget: 0.05, Delta: 1e-6, L1: edgesL1, L2: edgesL2}
	run, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slots, err := run.Template.Params.Int(sparse.ParamSlots)
	if err != nil || slots != run.Schedule.Slots || run.Schedule.FewerSlots == nil || len(run.Remarks()) != 1 { // about liars
		t.Fatalf("%d slots of %+v, %v; remarks %q", slots, run.Schedule, err, run.Remarks())
	}
	if p := must(run.Promise(t.Context(), run.Rounds)); run.Affordable != 4 || *p.Central > q.Budget || *p.Central < 0.98*q.Budget {
		t.Errorf("%d rounds, promises %v", run.Affordable, p)
	}
	forgotten := run.Template
	forgotten.Params = fl.Params{sparse.ParamSparsity: fl.Int(run.Sparsity)}
	_, m, err := fl.Complete(forgotten)
	if err != nil {
		t.Fatal(err)
	}
	spending := spendingOf(t, m, run.Clients, run.Cohort, q.Delta)
	if p := must(spending.Promise(t.Context(), run.Rounds)); *p.Central < 1.1*q.Budget {
		t.Errorf("the same ε with the slots that are best for it: central ε = %g, want more than the budget", *p.Central)
	}
}
