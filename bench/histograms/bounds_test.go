package histograms

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/hetero"
)

// The error stays within the bounds that the weights are made for: in the worst
// correlated case, where the strict clients are alone in their category, and where values
// are in random order. A bound that holds with probability 0.95 and is missed more than
// 40 times in 200 has probability below 1e-12.
func TestErrorsAreWithinTheBounds(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for _, c := range []struct {
		dependence
		weigh weigher
		bound func(w hetero.Weights, v float64) float64
	}{
		{sorted, calibratedC, func(w hetero.Weights, v float64) float64 {
			bias := 0.
			for _, x := range w {
				bias += max(0, x-1/float64(len(w)))
			}
			return bias + 2*v*math.Log(5/0.05)
		}},
		{uncorrelated, calibratedU, func(w hetero.Weights, v float64) float64 {
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
