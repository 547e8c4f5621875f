package keyvalues

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/keyvalues/rivals"
)

func TestTheoryAveragesTheTheorem(t *testing.T) {
	truth := (&singles{holders: []int{60_000, 40_000}, mean: []float64{0.5, -1}, size: 100_000}).truth()
	b, err := rivals.Optimized.UE(5)
	if err != nil {
		t.Fatal(err)
	}
	c := b.UE()
	bias := [2]float64{c.MeanBias(1, 0.6, 0.5, 1e5), c.MeanBias(1, 0.4, -1, 1e5)}
	for g, errors := range map[gauge][2]float64{
		{frequency, 0}: {c.FrequencyMSE(1, 0.6, 1e5), c.FrequencyMSE(1, 0.4, 1e5)},
		// A value of 0.5 is rounded to a sign of variance 0.75, −1 to −1.
		{mean, 0}: {c.MeanMSE(1, 0.6, 0.5, 1e5) + 0.75/60_000 + bias[0]*bias[0], c.MeanMSE(1, 0.4, -1, 1e5) + bias[1]*bias[1]},
	} {
		got, err := pckvUE.expected(truth, g, 2, 1, 100_000, 5)
		want := (errors[0] + errors[1]) / 2
		// Two independent squares of Gaussians, each of variance 2v².
		variance := (errors[0]*errors[0] + errors[1]*errors[1]) / 4 * 2
		if err != nil || math.Abs(got.mse-want) > 1e-12*want || math.Abs(got.variance-variance) > 1e-12*variance || got.corrected {
			t.Errorf("%s: %+v, want %g and %g, %v", g.of, got, want, variance, err)
		}
	}
	// Nothing is known at a tiny ε: the errors are 1.5 and 2 at most.
	if got, err := pckvUE.expected(truth, gauge{mean, 0}, 2, 1, 100_000, 0.001); err != nil || got.mse != (1.5*1.5+2*2)/2 || !got.corrected {
		t.Errorf("at a tiny ε: %+v, %v", got, err)
	}
	for _, got := range []func() (theory, error){
		func() (theory, error) { return kvue.expected(truth, gauge{mean, 0}, 2, 1, 100_000, 1) },
		func() (theory, error) { return pckvUE.expected(truth, gauge{precision, 1}, 2, 1, 100_000, 1) },
	} {
		if got, err := got(); err != nil || got != (theory{}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
