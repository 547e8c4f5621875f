package hetero

import (
	"math"
	"testing"
)

// E max² = 2·Σ (−1)^(j+1)·C(k,j)/j² by inclusion and exclusion: 7/2 for k = 2 and
// 85/18 for k = 3.
func TestLargestSquare(t *testing.T) {
	for k, want := range map[int]float64{1: 2, 2: 3.5, 3: 85. / 18} {
		if got, err := largestSquare(k); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("k = %d: %g, want %g, %v", k, got, want, err)
		}
	}
}

// Two equal parts of the clients, with ε = 1 and 10: weights are one number s, what the
// strict part has of the total. The least of the stated bound is found on a grid of s,
// between the proportional weights, 1/11, and the equal ones, 1/2.
func TestCalibratedWeightsMinimiseTheBound(t *testing.T) {
	var eps []float64
	for range 100 {
		eps = append(eps, 1)
	}
	for range 100 {
		eps = append(eps, 10)
	}
	noise := math.Log(2 * 20 / 0.05)
	deviation := math.Log(4 * 20 / 0.05)
	square := 0. // E max² of 20 exponential variables, ∫ P[max > x]·2x dx
	for x := 0.5e-4; x < 60; x += 1e-4 {
		square += 2 * x * 1e-4 * -math.Expm1(20*math.Log1p(-math.Exp(-x)))
	}
	for name, c := range map[string]struct {
		weigh  func([]float64, float64) (Weights, error)
		factor func() (float64, error)
		bound  func(half, v, norm float64) float64 // of ½‖w−1/n‖₁, ‖w/ε‖_∞, ‖w‖₂²
	}{
		"C, PAC": {Correlated, func() (float64, error) { return HistogramPACFactor(20, 0.05) }, func(half, v, _ float64) float64 {
			return half*half + math.Pow(2*v*math.Log(20/0.05), 2)
		}},
		"C, MSE": {Correlated, func() (float64, error) { return HistogramMSEFactor(20) }, func(half, v, _ float64) float64 { return half*half + 4*v*v*square }},
		"U, PAC": {Turbo, func() (float64, error) { return HistogramPACNoise(20, 0.05) }, func(_, v, norm float64) float64 {
			return deviation/2*norm + math.Pow(2*v*noise, 2)
		}},
		"U, MSE": {Turbo, func() (float64, error) { return HistogramMSENoise(20) }, func(_, v, norm float64) float64 { return norm + 4*v*v*square }},
	} {
		factor, err := c.factor()
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.weigh(eps, factor)
		if err != nil {
			t.Fatal(err)
		}
		least, best := math.Inf(1), 0.
		for s := 1e-6; s <= 0.5; s += 1e-6 {
			strict, other := s/100, (1-s)/100
			if at := c.bound(0.5-s, max(strict, other/10), 100*(strict*strict+other*other)); at < least {
				least, best = at, s
			}
		}
		if got := 100 * w[0]; math.Abs(got-best) > 1e-5 || best < 0.1 || best > 0.499 {
			t.Errorf("%s: strict clients have %g of the weight, want %g", name, got, best)
		}
	}
}

func TestCalibratedFactorsAreChecked(t *testing.T) {
	for name, f := range map[string]func() (float64, error){
		"no categories":        func() (float64, error) { return HistogramPACFactor(0, 0.05) },
		"no categories, MSE":   func() (float64, error) { return HistogramMSEFactor(0) },
		"no categories, U":     func() (float64, error) { return HistogramPACNoise(0, 0.05) },
		"no categories, U MSE": func() (float64, error) { return HistogramMSENoise(0) },
		"β = 0":                func() (float64, error) { return HistogramPACFactor(2, 0) },
		"β = NaN":              func() (float64, error) { return HistogramPACNoise(2, math.NaN()) },
	} {
		if v, err := f(); err == nil {
			t.Errorf("%s: %g, want an error", name, v)
		}
	}
}
