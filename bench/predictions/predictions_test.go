package predictions

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// One round of real reports of 1000 digits has the planned noise. The error has 1970 coordinates,
// so that its root mean square is off by a standard deviation of 1.6 %; ten percent are six, a
// chance of less than 1e-8. The seed is fixed besides.
func TestTheMeasuredNoiseIsThePlannedOne(t *testing.T) {
	p := &prediction{clients: 1000, budget: 1}
	edges, err := publicEdges(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.run, err = edges.of(plan.Request{Mechanism: mechanisms.Auto, Trust: plan.Shuffler, Clients: 1000, Rounds: 3, Budget: 4, Delta: delta}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := &prediction{clients: 2000, budget: 1, run: p.run}
	if err := measure(t.Context(), experiment.Env{Seed: 1, Jobs: 2}, []*prediction{other, p}, []int{1000}, 2); err != nil {
		t.Fatal(err)
	}
	if len(p.measured) != 2 || len(other.measured) != 0 {
		t.Fatalf("measured %v and %v", p.measured, other.measured)
	}
	for _, noise := range p.measured {
		if math.Abs(noise/p.exact-1) > 0.1 {
			t.Errorf("measured noise %g, want %g", noise, p.exact)
		}
	}
	if planned := p.run.Schedule.Noise; p.exact > planned || p.exact < 0.8*planned || p.entries > float64(p.run.Sparsity) || p.entries < 0.5*float64(p.run.Sparsity) {
		t.Errorf("noise %g for %g entries, planned %g for %d", p.exact, p.entries, planned, p.run.Sparsity)
	}
	r := report(edges, []*prediction{other, p}, 2)
	if err := r.Validate(); err != nil || len(r.Rows) != 2 || r.Rows[0][11] != nil || r.Rows[1][11] != p.noise().Value || !r.Verdicts[0].Holds || !r.Verdicts[1].Holds {
		t.Errorf("%+v, %v", r, err)
	}
	p.measured = []float64{1.06 * p.run.Schedule.Noise}
	if r := report(edges, []*prediction{p}, 1); r.Verdicts[0].Holds || r.Verdicts[1].Holds {
		t.Errorf("6 %% off: %+v", r.Verdicts)
	}
	p.measured = []float64{0.94 * p.exact}
	if r := report(edges, []*prediction{p}, 1); r.Verdicts[0].Holds || !r.Verdicts[1].Holds {
		t.Errorf("6 %% below: %+v", r.Verdicts)
	}
	if r := report(edges, []*prediction{other}, 1); r.Verdicts[0].Holds || r.Verdicts[1].Holds {
		t.Errorf("nothing measured: %+v", r.Verdicts)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := measure(ended, experiment.Env{Seed: 1, Jobs: 1}, []*prediction{p}, []int{1000}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// Coordinates are cut at the scale, and then the sum of what is left.
func TestGradientsAreClippedTwice(t *testing.T) {
	for _, c := range []struct {
		grad     []float64
		sparsity int
		want     []float64
	}{
		{[]float64{0.5, -3, 0.25, 0}, 2, []float64{0.5, -1, 0.25, 0}},
		{[]float64{0.5, -3, 2, 0}, 2, []float64{0.4, -0.8, 0.8, 0}},
		{[]float64{0, 0}, 1, []float64{0, 0}},
	} {
		got := make([]float64, len(c.grad))
		addClipped(got, c.grad, 1, c.sparsity)
		entries, sampling := addClipped(got, c.grad, 1, c.sparsity)
		for j := range got {
			got[j] /= 2
		}
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%v clipped to %v, want %v", c.grad, got, c.want)
		}
		wantEntries, wantSampling := 0.0, 0.0
		for _, v := range c.want {
			wantEntries, wantSampling = wantEntries+math.Abs(v), wantSampling+math.Abs(v)*(1-math.Abs(v))
		}
		if math.Abs(entries-wantEntries) > 1e-12 || math.Abs(sampling-wantSampling) > 1e-12 {
			t.Errorf("%v: %g entries, variance %g, want %g and %g", c.grad, entries, sampling, wantEntries, wantSampling)
		}
	}
}
