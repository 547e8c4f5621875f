package sample

import (
	"flag"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// All draws are seeded. Were they not, a chi-square test would fail with
// probability 1e−7 and a moment, or a frequency, beyond 5.5 standard deviations
// with 4e−8. The package has about 55 chi-square tests, 50 moments and frequencies,
// and one count with 1e−6: below 1e−5 in all.
const (
	chiSquareLevel = 1e-7
	deviations     = 5.5
)

func newRand() *rand.Rand { return rand.New(rand.NewChaCha8([32]byte{7})) }

// levels are the probabilities at which laws are cut into bins, fine in the tails.
var levels = []float64{2e-5, 2e-4, 1e-3, 5e-3, .02, .05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .98, .995, .999, .9998}

var long = flag.Bool("long", false, "draw four times as often")

// drawn is how often a test draws: a quarter of n, and with -long n times.
func drawn(n int) int {
	if *long {
		return n
	}
	return n / 4
}

// requireLaw compares draws, n with -long, with a law on the integers by chi-square.
func requireLaw(t *testing.T, name string, n int, draw func() int64, cdf func(int64) float64) {
	t.Helper()
	n = drawn(n)
	const far = 1 << 60
	var edges []int64 // bin i is (edges[i−1], edges[i]]
	below := 0.
	for _, level := range levels {
		k := int64(sort.Search(2*far, func(i int) bool { return cdf(int64(i)-far) >= level })) - far
		c := cdf(k)
		if float64(n)*(c-below) >= 10 && float64(n)*(1-c) >= 10 {
			edges = append(edges, k)
			below = c
		}
	}
	counts := make([]float64, len(edges)+1)
	for range n {
		x := draw()
		counts[sort.Search(len(edges), func(i int) bool { return x <= edges[i] })]++
	}
	expected := make([]float64, len(counts))
	below = 0
	for i := range counts {
		c := 1.
		if i < len(edges) {
			c = cdf(edges[i])
		}
		expected[i] = float64(n) * (c - below)
		below = c
	}
	requireCounts(t, name, counts, expected)
}

// requireContinuousLaw is requireLaw for a law that has no atoms: its CDF
// applied to the draws is uniform.
func requireContinuousLaw(t *testing.T, name string, n int, draw func() float64, cdf func(float64) float64) {
	t.Helper()
	requireLaw(t, name, n,
		func() int64 { return int64(1e6 * cdf(draw())) },
		func(k int64) float64 { return min(1, max(0, float64(k+1)/1e6)) })
}

func requireCounts(t *testing.T, name string, counts, expected []float64) {
	t.Helper()
	if len(counts) < 2 {
		t.Fatalf("%s: one bin compares nothing", name)
	}
	statistic := 0.
	for i, e := range expected {
		statistic += (counts[i] - e) * (counts[i] - e) / e
	}
	if limit := (distuv.ChiSquared{K: float64(len(counts) - 1)}).Quantile(1 - chiSquareLevel); !(statistic <= limit) {
		t.Errorf("%s: chi-square %.1f of %d bins, limit %.1f\ncounts   %.0f\nexpected %.1f", name, statistic, len(counts), limit, counts, expected)
	}
}

// requireMoments compares mean and variance of draws, n with -long, with the exact ones.
// fourth is the fourth central moment.
func requireMoments(t *testing.T, name string, n int, draw func() int64, mean, variance, fourth float64) {
	t.Helper()
	n = drawn(n)
	var sum, square float64
	for range n {
		d := float64(draw()) - mean
		sum += d
		square += d * d
	}
	sum /= float64(n)
	square /= float64(n)
	if limit := deviations * math.Sqrt(variance/float64(n)); !(math.Abs(sum) <= limit) {
		t.Errorf("%s: mean is off by %g, at most %g", name, sum, limit)
	}
	if limit := deviations * math.Sqrt((fourth-variance*variance)/float64(n)); !(math.Abs(square-variance) <= limit) {
		t.Errorf("%s: variance %g is off by %g, at most %g", name, variance, square-variance, limit)
	}
}

func requireClose(t *testing.T, name string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s: got %.17g, want %.17g within a relative %g", name, got, want, relative)
	}
}

// convolve returns the first len(a) terms of the convolution.
func convolve(a, b []float64) []float64 {
	sum := make([]float64, len(a))
	for i, x := range a {
		for j, y := range b[:len(a)-i] {
			sum[i+j] += x * y
		}
	}
	return sum
}

// script is a source that plays back given integers.
type script []uint64

func (s *script) Uint64() uint64 {
	u := (*s)[0]
	*s = (*s)[1:]
	return u
}

func scripted(u ...uint64) *rand.Rand { s := script(u); return rand.New(&s) }
