package histograms

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/hetero"
)

// E max² = 2·Σ (−1)^(j+1)·C(k,j)/j² by inclusion and exclusion: 7/2 for k = 2 and
// 85/18 for k = 3.
func TestLargestSquare(t *testing.T) {
	for k, want := range map[int]float64{1: 2, 2: 3.5, 3: 85. / 18} {
		if got := largestSquare(k); math.Abs(got-want) > 1e-12 {
			t.Errorf("k = %d: %g, want %g", k, got, want)
		}
	}
}

// Two equal parts of the users, with ε = 1 and 10: weights are one number s, what the
// strict part has of the total. The least of the stated bound is found on a grid of s,
// between the proportional weights, 1/11, and the equal ones, 1/2.
func TestCalibratedWeightsMinimiseTheBound(t *testing.T) {
	p := &population{categories: 20}
	for range 100 {
		p.eps = append(p.eps, 1)
	}
	for range 100 {
		p.eps = append(p.eps, 10)
	}
	noise := math.Log(2 * 20 / 0.05)
	deviation := math.Log(4 * 20 / 0.05)
	square := 0. // E max² of 20 exponential variables, ∫ P[max > x]·2x dx
	for x := 0.5e-4; x < 60; x += 1e-4 {
		square += 2 * x * 1e-4 * -math.Expm1(20*math.Log1p(-math.Exp(-x)))
	}
	for name, c := range map[string]struct {
		weigh weigher
		bound func(half, v, norm float64) float64 // of ½‖w−1/n‖₁, ‖w/ε‖_∞, ‖w‖₂²
	}{
		"C, PAC": {calibratedCorrelated(pac), func(half, v, _ float64) float64 {
			return half*half + math.Pow(2*v*math.Log(20/0.05), 2)
		}},
		"C, MSE": {calibratedCorrelated(rootLargestSquare), func(half, v, _ float64) float64 { return half*half + 4*v*v*square }},
		"U, PAC": {calibratedUncorrelated(pacNoise), func(_, v, norm float64) float64 {
			return deviation/2*norm + math.Pow(2*v*noise, 2)
		}},
		"U, MSE": {calibratedUncorrelated(mseNoise), func(_, v, norm float64) float64 { return norm + 4*v*v*square }},
	} {
		w, err := c.weigh(p)
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
			t.Errorf("%s: strict users have %g of the weight, want %g", name, got, best)
		}
	}
}

// The error stays within the bounds that the weights are made for: in the worst
// correlated case, where the strict users are alone in their category, and where values
// are in random order. A bound that holds with probability 0.95 and is missed more than
// 40 times in 200 has probability below 1e-12.
func TestErrorsAreWithinTheBounds(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, c := range []struct {
		dependence
		weigh weigher
		bound func(w hetero.Weights, v float64) float64
	}{
		{sorted, calibratedCorrelated(pac), func(w hetero.Weights, v float64) float64 {
			bias := 0.
			for _, x := range w {
				bias += max(0, x-1/float64(len(w)))
			}
			return bias + 2*v*math.Log(5/0.05)
		}},
		{uncorrelated, calibratedUncorrelated(pacNoise), func(w hetero.Weights, v float64) float64 {
			norm := 0.
			for _, x := range w {
				norm += x * x
			}
			return math.Sqrt(norm*math.Log(4*5/0.05)/2) + 2*v*math.Log(2*5/0.05)
		}},
	} {
		missed := 0
		for range 200 {
			p := newPopulation(500, setting{c.dependence, 5}, rng)
			w, err := c.weigh(p)
			if err != nil {
				t.Fatal(err)
			}
			v := 0.
			for i, x := range w {
				v = max(v, x/p.eps[i])
			}
			got, err := weighted("", func(*population) (hetero.Weights, error) { return w, nil }).estimate(p, rng)
			if err != nil {
				t.Fatal(err)
			}
			if largestError(got, p.truth) > c.bound(w, v) {
				missed++
			}
		}
		if missed > 40 {
			t.Errorf("%v: the bound is missed in %d of 200", c.dependence, missed)
		}
	}
}
