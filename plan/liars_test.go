package plan

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privunit"
)

// counting is a request for a run that counts on liars.
func counting(t *testing.T, liars float64, change func(*Request)) (*Run, error) {
	t.Helper()
	q := Request{
		Mechanism: mechanisms.Auto, Trust: Shuffler, Dim: 650, Clients: 6000, Budget: 1, Delta: 1e-6, Public: gradients(t, 200, 650, 0.01, 0.03), Liars: liars,
	}
	if change != nil {
		change(&q)
	}
	return q.Run(t.Context())
}

// Liars are a part of the error. The larger their share, the smaller coco's clip at a coordinate, and the less they move the mean in comparison with
// what they would do to a plan that does not count on them.
func TestAPlanCountsOnLiars(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	for _, share := range []float64{0.2, 0.05} {
		fixed := func(q *Request) { q.Mechanism = coco.Name }
		naive, err := counting(t, 0, fixed)
		if err != nil {
			t.Fatal(err)
		}
		aware, err := counting(t, share, fixed)
		if err != nil {
			t.Fatal(err)
		}
		before := naive.Opened.(fl.Swayer).Sway() * share * spread(naive.Schedule.Slots)
		a := aware.Schedule.Considered[0]
		if a.Shift != aware.Opened.(fl.Swayer).Sway()*share*spread(a.Slots) {
			t.Errorf("a shift of %g, and the mechanism says %g a report", a.Shift, aware.Opened.(fl.Swayer).Sway())
		}
		if !(a.Shift < 0.9*before) {
			t.Errorf("%g of liars shift the mean by %g, and by %g where the plan does not count on them", share, a.Shift, before)
		}
	}
	// Of all mechanisms the one is taken whose liars and noise do the least together.
	free, err := counting(t, 0.05, nil)
	if err != nil {
		t.Fatal(err)
	}
	if free.Mechanism != privunit.Name || free.Liars != 0.05 {
		t.Errorf("%s with liars %g", free.Mechanism, free.Liars)
	}
	for _, a := range free.Schedule.Considered[1:] {
		if a.badness() < free.Schedule.Considered[0].badness() && a.Mechanism != coco.Name {
			t.Errorf("%s is %g bad, %s is %g", a.Mechanism, a.badness(), free.Mechanism, free.Schedule.Considered[0].badness())
		}
	}
}

// The clip of proved sums is smaller where liars do more than the noise.
func TestProvedSumsCountOnLiars(t *testing.T) {
	if !*Long {
		t.Skip("takes a second or two")
	}
	// One gradient in ten is long, and the mean follows it: without liars a large clip is best.
	rng, rows := rand.New(rand.NewPCG(3, 4)), make([][]float64, 200)
	for i := range rows {
		rows[i] = make([]float64, 650)
		for j := range rows[i] {
			if i%10 == 0 {
				rows[i][j] = 0.4
			} else {
				rows[i][j] = 0.04 * rng.NormFloat64()
			}
		}
	}
	sample, err := NewSample(rows)
	if err != nil {
		t.Fatal(err)
	}
	two := func(q *Request) {
		q.Trust, q.Proof, q.Clients, q.Budget, q.Public = TwoServers, hdsum.ProofPrio3, 1000, 8, sample
	}
	naive, err := counting(t, 0, two)
	if err != nil {
		t.Fatal(err)
	}
	aware, err := counting(t, 0.4, two)
	if err != nil {
		t.Fatal(err)
	}
	if !(aware.Template.Scale < naive.Template.Scale) {
		t.Errorf("the clip is %g with liars and %g without", aware.Template.Scale, naive.Template.Scale)
	}
}

// Nothing is planned that one client who lies would ruin.
func TestLiarsWhomNothingBoundsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Request){
		"two servers": func(q *Request) { q.Trust = TwoServers },
		"own site":    func(q *Request) { q.Trust, q.Records = OwnSite, 6000 },
		"sumdp":       func(q *Request) { q.Mechanism = hdsum.Name },
		"none":        func(q *Request) { q.Mechanism = "none" },
		"half":        func(q *Request) { q.Liars = 0.5 },
		"less than 0": func(q *Request) { q.Liars = -0.1 },
	} {
		var p *fl.ParamError
		if _, err := counting(t, 0.01, change); !errors.As(err, &p) || p.Param != "liars" {
			t.Errorf("%s: %v, want a ParamError for liars", name, err)
		}
	}
}
