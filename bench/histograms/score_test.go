package histograms

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Squares of 1, …, 20 by hand: mean 143.5, variance Σ(i²−143.5)²/19 = 310821/19.
func TestScore(t *testing.T) {
	var errors []float64
	for i := range 20 {
		errors = append(errors, float64(20-i))
	}
	got := newScore(errors)
	if want := math.Sqrt(310821. / 19 / 20); got.quantile.value != 19 || got.mse.value != 143.5 || math.Abs(got.mse.stderr-want) > 1e-9 {
		t.Errorf("%+v, want 19, 143.5 and %g", got, want)
	}
	if got := newScore([]float64{2}); got != (score{measured{2, 0}, measured{4, 0}}) {
		t.Errorf("one repeat: %+v", got)
	}
}

// The rank is ⌈0.95·n⌉.
func TestUpperQuantile(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 2, 19: 19, 20: 19, 21: 20, 40: 38, 41: 39, 1500: 1425} {
		var numbers []float64
		for i := range n {
			numbers = append(numbers, float64(i+1))
		}
		if got := upperQuantile(numbers); got.value != want {
			t.Errorf("n = %d: %g, want %g", n, got.value, want)
		}
	}
}

// All 3³ samples of {0, 1, 5} with replacement: the largest is 5 in 19, 1 in 7 and 0
// in 1 of 27, so that its variance is (19·25+7)/27 − ((19·5+7)/27)² = 2610/729.
func TestStandardErrorOfTheQuantileByHand(t *testing.T) {
	got := upperQuantile([]float64{0, 1, 5}).stderr
	if want := math.Sqrt(2610. / 729); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
	// A shift far larger than the numbers changes only their rounding.
	if got, want := upperQuantile([]float64{1e9, 1e9 + 1, 1e9 + 5}).stderr, got; math.Abs(got-want) > 1e-6 {
		t.Errorf("shifted: %g, want %g", got, want)
	}
	if got := upperQuantile([]float64{3, 3, 3}).stderr; got != 0 {
		t.Errorf("equal numbers: %g", got)
	}
}

// The 95 % quantile of 1000 exponential variables has standard deviation
// √(Σ 1/j², j = 51, …, 1000) = 0.13709 by Rényi's representation. The mean over 300
// samples of the estimated one, whose own relative spread is about 0.3, is within 0.3/√300
// = 2 % in a standard deviation; the estimate's bias is of that order, so that 12 % has
// probability below 1e-6.
func TestStandardErrorOfTheQuantileOfSamples(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	want := 0.
	for j := 51; j <= 1000; j++ {
		want += 1 / float64(j*j)
	}
	want = math.Sqrt(want)
	mean := 0.
	numbers := make([]float64, 1000)
	for range 300 {
		for i := range numbers {
			numbers[i] = rng.ExpFloat64()
		}
		slices.Sort(numbers)
		mean += upperQuantile(numbers).stderr / 300
	}
	if math.Abs(mean/want-1) > 0.12 {
		t.Errorf("%g, want %g", mean, want)
	}
}
