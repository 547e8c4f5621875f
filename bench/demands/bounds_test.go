package demands

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

// The error stays within the bounds that the weights are made for: in the worst
// correlated case, where the strict clients are alone in their category, and where values
// are in random order. A bound that holds with probability 0.95 and is missed more than
// 40 times in 200 has probability below 1e-12.
func TestErrorsAreWithinTheBounds(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, c := range []struct {
		name  string
		draw  func() *population
		weigh weigher
		bound func(w hetero.Weights, v float64) float64
	}{
		{"sorted", func() *population { return sorted.draw(500, 5, rng) }, calibratedC, func(w hetero.Weights, v float64) float64 {
			bias := 0.
			for _, x := range w {
				bias += max(0, x-1/float64(len(w)))
			}
			return bias + 2*v*math.Log(5/0.05)
		}},
		{"uncorrelated", func() *population { return independent(500, 5, triangle(5), rng) }, calibratedU, func(w hetero.Weights, v float64) float64 {
			norm := 0.
			for _, x := range w {
				norm += x * x
			}
			return math.Sqrt(norm*math.Log(4*5/0.05)/2) + 2*v*math.Log(2*5/0.05)
		}},
	} {
		missed := 0
		for range 200 {
			p := c.draw()
			w, err := c.weigh(p, quantile)
			if err != nil {
				t.Fatal(err)
			}
			v := 0.
			for i, x := range w {
				v = max(v, x/p.eps[i])
			}
			estimate, err := centrally(p, w)
			if err != nil {
				t.Fatal(err)
			}
			got, err := estimate(p.values, nil, rng)
			if err != nil {
				t.Fatal(err)
			}
			if largestError(got, p.truth) > c.bound(w, v) {
				missed++
			}
		}
		if missed > 40 {
			t.Errorf("%s: the bound is missed in %d of 200", c.name, missed)
		}
	}
}
