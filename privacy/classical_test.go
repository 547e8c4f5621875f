package privacy_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/privacy"
)

func TestBasicAndAdvanced(t *testing.T) {
	epsilon, delta, err := privacy.BasicComposition(0.1, 1e-9, 100)
	if err != nil || math.Abs(epsilon-10) > 1e-12 || epsilon < 10 || math.Abs(delta-1e-7) > 1e-20 {
		t.Errorf("basic: %v %v %v", epsilon, delta, err)
	}
	// 0.1·√(200·log 10^6) + 10·(e^0.1 − 1) = 5.256522 + 1.051709, by hand.
	epsilon, delta, err = privacy.AdvancedComposition(0.1, 1e-9, 1e-6, 100)
	if err != nil || math.Abs(epsilon-6.308231) > 1e-6 || math.Abs(delta-1.1e-6) > 1e-18 {
		t.Errorf("advanced: %v %v %v", epsilon, delta, err)
	}
}

// Basic composition has one rounding: the float64 next above the exact sum, or the sum
// itself. Equal budgets give the same number either way.
func TestBasicIsTheExactSumRoundedUp(t *testing.T) {
	exact := func(values ...float64) *big.Rat {
		sum := new(big.Rat)
		for _, v := range values {
			sum.Add(sum, new(big.Rat).SetFloat64(v))
		}
		return sum
	}
	leastAbove := func(got float64, sum *big.Rat) bool {
		below := math.Nextafter(got, math.Inf(-1))
		return new(big.Rat).SetFloat64(got).Cmp(sum) >= 0 && (got == 0 || new(big.Rat).SetFloat64(below).Cmp(sum) < 0)
	}
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	for k := 1; k <= 300; k += 1 + k/20 {
		epsilon, delta := math.Ldexp(rng.Float64(), rng.IntN(60)-55), math.Ldexp(rng.Float64(), -rng.IntN(1074))/512
		gotEpsilon, gotDelta, err := privacy.BasicComposition(epsilon, delta, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ got, each float64 }{{gotEpsilon, epsilon}, {gotDelta, delta}} {
			equal := slices.Repeat([]float64{c.each}, k)
			if !leastAbove(c.got, exact(equal...)) {
				t.Errorf("k=%d: Basic of %v is %v", k, c.each, c.got)
			}
			if sum := must[float64](t)(privacy.SumUp(equal)); sum != c.got {
				t.Errorf("k=%d: SumUp of %v is %v, Basic %v", k, c.each, sum, c.got)
			}
		}
		different := make([]float64, k)
		for i := range different {
			different[i] = math.Ldexp(rng.Float64(), rng.IntN(80)-70)
		}
		if sum := must[float64](t)(privacy.SumUp(different)); !leastAbove(sum, exact(different...)) {
			t.Errorf("SumUp of %d values is %v, exact %v", k, sum, exact(different...).FloatString(30))
		}
	}
	if sum, err := privacy.SumUp(nil); sum != 0 || err != nil {
		t.Errorf("no mechanism: %v, %v", sum, err)
	}
	most := math.MaxFloat64
	if sum, err := privacy.SumUp([]float64{most, 1}); !math.IsInf(sum, 1) || err != nil {
		t.Errorf("beyond float64: %v, %v", sum, err)
	}
	if epsilon, delta, err := privacy.BasicComposition(1, 0.4, 3); epsilon != 3 || delta != 1 || err != nil {
		t.Errorf("three times (1, 0.4): %v, %v, %v", epsilon, delta, err)
	}
}
