package hetero

import (
	"math"
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/exact"
)

// expBounds returns integers around e^x·2^160.
func expBounds(x float64) (lower, upper *big.Int) {
	lower = exact.LowerExp(x)
	upper = new(big.Int).Rsh(lower, 139)
	return lower, upper.Add(upper, lower).Add(upper, big.NewInt(1))
}

var exponents = []float64{1e-9, 1e-6, 0.01, 0.5, 1, 3, 7.7, 15}

// A bit that flips with probability p tells no more than ln((1−p)/p).
func TestLocalFlipsProtect(t *testing.T) {
	for _, categories := range []int{1, 2, 5} {
		for _, e := range exponents {
			l, err := NewLocal([]float64{e}, Weights{1}, categories)
			if err != nil {
				t.Fatal(err)
			}
			bits := 2.
			if categories == 1 {
				bits = 1
			}
			flip := new(big.Int).SetUint64(uint64(l.flips[0]))
			stay := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 64), flip)
			lower, _ := expBounds(e / bits)
			// stay/flip ≤ e^x
			if stay.Lsh(stay, 160).Cmp(flip.Mul(flip, lower)) > 0 {
				t.Errorf("ε = %g, %d categories: a flip of probability %g is too rare", e, categories, l.flips[0].probability())
			}
			if got, want := l.flips[0].probability(), 1/(1+math.Exp(e/bits)); got > want*(1+1e-11) {
				t.Errorf("ε = %g, %d categories: flips with probability %g, want %g", e, categories, got, want)
			}
		}
	}
}

// A user in the sample with probability π gets ln(1 + π·(e^t − 1)).
func TestSamplingChancesProtect(t *testing.T) {
	one := new(big.Int).Lsh(big.NewInt(1), 160)
	for _, threshold := range exponents {
		s, err := NewSampling(exponents, threshold, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range exponents {
			if s.always[i] != (e >= threshold) {
				t.Errorf("ε = %g, threshold %g: always in the sample: %t", e, threshold, s.always[i])
			}
			if s.always[i] {
				continue
			}
			lower, _ := expBounds(e)
			_, upper := expBounds(threshold)
			gain := new(big.Int).SetUint64(uint64(s.chances[i]))
			gain.Mul(gain, upper.Sub(upper, one)).Rsh(gain, 64)
			if gain.Cmp(lower.Sub(lower, one)) > 0 {
				t.Errorf("ε = %g, threshold %g: sampled with probability %g, too often", e, threshold, s.chances[i].probability())
			}
			if got, want := s.chances[i].probability(), math.Expm1(e)/math.Expm1(threshold); got < want*(1-1e-11)-0x1p-63 {
				t.Errorf("ε = %g, threshold %g: sampled with probability %g, want %g", e, threshold, got, want)
			}
		}
		if eta := new(big.Rat).Mul(rat(s.noise.eta), new(big.Rat).SetInt64(s.noise.units[0])); eta.Cmp(rat(threshold)) > 0 {
			t.Errorf("threshold %g: the sample gets ε = %s", threshold, eta.FloatString(20))
		}
	}
}
