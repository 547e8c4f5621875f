package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// cumulated returns the CDF of a law on 1, 2, …, n that is summed up to there
// and 1 beyond.
func cumulated(n int, prob func(int64) float64) func(int64) float64 {
	sums := make([]float64, n+1)
	for k := 1; k <= n; k++ {
		sums[k] = sums[k-1] + prob(int64(k))
	}
	return func(k int64) float64 {
		if k > int64(n) {
			return 1
		}
		return sums[max(0, k)]
	}
}

// Prob returns P[X = k], 0 for k < 1.
func (d Logarithmic) Prob(k int64) float64 {
	if k < 1 {
		return 0
	}
	x := float64(k)
	return math.Exp(-d.Eta*x) / (x * -log1mexp(d.Eta))
}

// Rand draws one value.
func (d Logarithmic) Rand(rng *rand.Rand) int64 {
	return NewLogarithmicSampler(d.Eta).Rand(rng)
}

func TestLogarithmicFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, eta := range []float64{1e-9, 1e-4, 0.05, 0.7, 3} {
		d := Logarithmic{eta}
		requireLaw(t, fmt.Sprint("η = ", eta), draws, func() int64 { return d.Rand(rng) }, cumulated(1<<20, d.Prob))
	}
}

func TestLogarithmicMoments(t *testing.T) {
	rng := newRand()
	for _, eta := range []float64{1e-3, 0.1, 1, 6} {
		d := Logarithmic{eta}
		var total, mean, variance, fourth float64
		for k := int64(1); k < 100_000; k++ {
			total += d.Prob(k)
			mean += float64(k) * d.Prob(k)
		}
		for k := int64(1); k < 100_000; k++ {
			square := math.Pow(float64(k)-mean, 2)
			variance += square * d.Prob(k)
			fourth += square * square * d.Prob(k)
		}
		requireClose(t, fmt.Sprint(d, " total"), total, 1, 1e-12)
		sampler := NewLogarithmicSampler(eta)
		requireMoments(t, fmt.Sprint(d), draws, func() int64 { return sampler.Rand(rng) }, mean, variance, fourth)
	}
}

func TestLogarithmicAtItsLimits(t *testing.T) {
	if p := (Logarithmic{1}).Prob(0); p != 0 {
		t.Errorf("P[0] = %g", p)
	}
	for _, eta := range []float64{40, 50, 1000, math.Inf(1)} {
		if k := (Logarithmic{eta}).Rand(newRand()); k != 1 {
			t.Errorf("η = %g: got %d, want 1", eta, k)
		}
	}
	rng := newRand()
	for _, eta := range []float64{0, -1, math.NaN(), 1e-12} {
		for range 1000 {
			if k := (Logarithmic{eta}).Rand(rng); k < 1 {
				t.Fatalf("η = %g: got %d", eta, k)
			}
		}
	}
	// A second trial that succeeds with probability below 2^−53: 4e−18 is drawn.
	if k := NewLogarithmicSampler(40).Rand(scripted(0, 1<<63, 1<<63)); k != 2 {
		t.Errorf("the longest exponential variable at η = 40 gives %d, want 2", k)
	}
}
