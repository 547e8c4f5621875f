package experiment_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Student's 97.5 % quantile with 2 degrees of freedom is 4.302653.
func TestIntervalsByHand(t *testing.T) {
	near := func(what string, got experiment.Interval, value, half float64) {
		t.Helper()
		if math.Abs(got.Value-value) > 1e-9 || math.Abs(got.High-value-half) > 1e-5 || math.Abs(value-got.Low-half) > 1e-5 {
			t.Errorf("%s: %+v, want %g ± %g", what, got, value, half)
		}
	}
	near("mean of 1, 2, 3", experiment.MeanInterval([]float64{3, 1, 2}), 2, 4.302653/math.Sqrt(3))
	near("one value", experiment.MeanInterval([]float64{7}), 7, 0)
	// 0, 1, 2, 3, 100 become 1, 1, 2, 3, 3, with squared deviations of sum 4; 3 are left.
	trimmed, err := experiment.TrimmedInterval([]float64{100, 1, 3, 0, 2}, 1, 1)
	near("trimmed mean", trimmed, 2, 4.302653*math.Sqrt(4./3/2))
	if one, oneErr := experiment.TrimmedInterval([]float64{1, 5, 6}, 1, 1); err != nil || oneErr != nil || one != (experiment.Interval{Value: 5, Low: 5, High: 5}) {
		t.Errorf("one value left: %+v, %v, %v", one, err, oneErr)
	}
	all, err := experiment.TrimmedInterval([]float64{3, 1, 2}, 0, 0)
	if mean := experiment.MeanInterval([]float64{3, 1, 2}); err != nil || math.Abs(all.High-mean.High) > 1e-12 {
		t.Errorf("nothing dropped: %+v, %v, want %+v", all, err, mean)
	}
	if got, err := experiment.TrimmedInterval([]float64{1}, 1, 1); err == nil {
		t.Errorf("nothing left: %+v", got)
	}
}

// 95 % of the intervals of 20 Gaussian values, the 4 smallest and the 4 largest dropped, hold
// the mean. Over 4000 samples the share has standard deviation 0.0034, and the interval is
// good to 0.005: an error of 0.025 has probability below 1e-8.
func TestTrimmedIntervalsHoldTheMean(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	const samples = 4000
	held := 0.
	values := make([]float64, 20)
	for range samples {
		for i := range values {
			values[i] = 3 + rng.NormFloat64()
		}
		got, err := experiment.TrimmedInterval(values, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low <= 3 && 3 <= got.High {
			held += 1. / samples
		}
	}
	if math.Abs(held-0.95) > 0.025 {
		t.Errorf("%g of the intervals hold the mean", held)
	}
}

// Wilson's interval of 8 of 10, by his formula, and the intervals of 10 of 10 and 0 of 10, which
// have a width.
func TestShareInterval(t *testing.T) {
	for _, c := range []struct {
		hits      int
		low, high float64
	}{{8, 0.4902, 0.9433}, {10, 0.7225, 1}, {0, 0, 0.2775}} {
		i := experiment.ShareInterval(c.hits, 10)
		if i.Value != float64(c.hits)/10 || math.Abs(i.Low-c.low) > 1e-4 || math.Abs(i.High-c.high) > 1e-4 {
			t.Errorf("%d of 10: %+v, want %g to %g", c.hits, i, c.low, c.high)
		}
	}
}
