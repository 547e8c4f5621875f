package sample

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

const draws = 100_000

func TestUniformHas53BitsHoweverSmall(t *testing.T) {
	for _, c := range []struct {
		source []uint64
		want   float64
	}{
		{[]uint64{1 << 63}, 0.5},
		{[]uint64{1 << 53}, 0x1p-11},
		{[]uint64{3, 1 << 62}, 3.25 * 0x1p-64},
		{[]uint64{1 << 52, 3 << 62}, (1<<52 + 1) * 0x1p-64},
		{[]uint64{0, 0, 1 << 63}, 0x1p-129},
		{[]uint64{math.MaxUint64}, 1},
	} {
		if got := uniform(scripted(c.source...)); got != c.want {
			t.Errorf("uniform from %x = %g, want %g", c.source, got, c.want)
		}
	}
}

// An exponential variable is below x with probability x for small x, and above
// −ln x: both must be reached with the digits of x.
func TestExponentialIsFineAtBothEnds(t *testing.T) {
	requireClose(t, "short", exponential(scripted(1<<63, 1, 1<<63)), 1.5*0x1p-65, 1e-15)
	requireClose(t, "long", exponential(scripted(0, 1<<63)), 65*math.Ln2, 1e-15)
}

func TestContinuousLaws(t *testing.T) {
	rng := newRand()
	requireContinuousLaw(t, "uniform", draws, func() float64 { return uniform(rng) }, func(x float64) float64 { return x })
	requireContinuousLaw(t, "exponential", draws, func() float64 { return exponential(rng) }, func(x float64) float64 { return -math.Expm1(-x) })
	requireContinuousLaw(t, "normal", draws, func() float64 { return normal(rng) }, func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 })
}

func TestGammaFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, a := range []float64{0.02, 0.5, 0.999, 1, 2.5, 88, 1e4} {
		law := distuv.Gamma{Alpha: a, Beta: 1}
		requireContinuousLaw(t, fmt.Sprintf("shape %g", a), draws, func() float64 { return gamma(rng, a) }, law.CDF)
	}
}
