package sample

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

func TestDiscreteLaplaceFollowsItsLaw(t *testing.T) {
	rng := newRand()
	for _, eta := range []float64{1e-12, 1e-9, 1e-3, 0.1, 0.5, 0.999, 1, 1.7, 5} {
		d := DiscreteLaplace{eta}
		requireLaw(t, fmt.Sprint("η = ", eta), draws, func() int64 { return d.Rand(rng) }, d.CDF)
	}
}

func TestDiscreteLaplaceMoments(t *testing.T) {
	rng := newRand()
	for _, eta := range []float64{1e-12, 1e-3, 1, 4} {
		d := DiscreteLaplace{eta}
		// The fourth moment is the difference's of two geometric variables: twice
		// their own plus 6 times the square of their variance.
		v := d.Variance() / 2
		fourth := 2*v*(9*v+1) + 6*v*v
		requireMoments(t, fmt.Sprint(d), draws, func() int64 { return d.Rand(rng) }, 0, 2*v, fourth)
	}
}

func TestDiscreteLaplaceIsADifferenceOfGeometrics(t *testing.T) {
	d, g := DiscreteLaplace{0.2}, NegativeBinomial{1, 0.2}
	law := g.probabilities(400)
	below := d.CDF(-201)
	variance := 0.
	for k := -200; k <= 200; k++ {
		sum := 0.
		for j := max(0, -k); j < 400 && j+k < 400; j++ {
			sum += law[j] * law[j+k]
		}
		requireClose(t, fmt.Sprintf("P[%d]", k), d.Prob(int64(k)), sum, 1e-12)
		below += sum
		requireClose(t, fmt.Sprintf("CDF(%d)", k), d.CDF(int64(k)), below, 1e-12)
		variance += float64(k*k) * sum
	}
	requireClose(t, "variance", d.Variance(), variance, 1e-11)
	rng := newRand()
	requireLaw(t, "differences", draws, func() int64 { plus, minus := g.Rand(rng), g.Rand(rng); return plus - minus }, d.CDF)
}

// The exponents of the two exact coin flips, as fractions, are the products of
// η and integers that they stand for.
func TestGeometricSplitIsExact(t *testing.T) {
	for _, eta := range []float64{1e-12, 3e-7, 0.1, 0.5, math.Nextafter(0.5, 0), 0.75, 1, 50, math.Nextafter(50, 0)} {
		g := newGeometric(eta)
		gamma := new(big.Float).SetPrec(200).SetUint64(g.part.hi)
		gamma.SetMantExp(gamma, -64)
		gamma.Add(gamma, big.NewFloat(g.whole))
		want := new(big.Float).SetPrec(200).SetFloat64(eta)
		want.SetMantExp(want, g.shift)
		if gamma.Cmp(want) != 0 || g.part.lo != 0 {
			t.Errorf("η = %g: whole %g, part %v and shift %d are not η·2^shift", eta, g.whole, g.part, g.shift)
		}
		if g.shift > 0 && g.whole != 0 || eta < 1 && gamma.Cmp(big.NewFloat(0.5)) < 0 {
			t.Errorf("η = %g: γ = %v with shift %d", eta, gamma, g.shift)
		}
	}
}

func TestDiscreteLaplaceOutsideItsDomain(t *testing.T) {
	rng := newRand()
	for _, eta := range []float64{0, -1, math.NaN(), 0x1p-60} {
		var sum float64
		for range 20 {
			sum += math.Abs(float64((DiscreteLaplace{eta}).Rand(rng)))
		}
		// A sum of 20 exponential variables is below 1 with probability 2e−19.
		if sum < 1<<50 {
			t.Errorf("η = %g: 20 draws have absolute sum %g, want the sum for η = 2^-50", eta, sum)
		}
	}
	for _, eta := range []float64{800, math.Inf(1)} {
		if k := (DiscreteLaplace{eta}).Rand(rng); k != 0 {
			t.Errorf("η = %g: got %d, want 0", eta, k)
		}
	}
}
