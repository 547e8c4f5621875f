package privacy_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/privacy"
)

// With t = 3 slots and s = 1 the other clients may all have the slot that is neither of the two neighbours'. A report is in its client's own slot
// with probability e^ε/Ω, Ω = e^ε + 2, and in each other one with 1/Ω. The exact δ of these n reports, by their counts, is the lower bound's, and the
// bound that is used is above it.
func TestTheLowerBoundIsReached(t *testing.T) {
	const n = 6
	for _, epsilon := range []float64{0.5, 1.5} {
		r := math.Exp(epsilon)
		own, other := r/(r+2), 1/(r+2)
		// counts[a][b] is the probability that a of the n − 1 reports of others are in the first slot and b in the second.
		var counts [n + 1][n + 1]float64
		counts[0][0] = 1
		for range n - 1 {
			var next [n + 1][n + 1]float64
			for a := range n {
				for b := range n - a {
					next[a+1][b] += counts[a][b] * other
					next[a][b+1] += counts[a][b] * other
					next[a][b] += counts[a][b] * own
				}
			}
			counts = next
		}
		with := func(first, second, third float64, a, b int) (p float64) {
			p = counts[a][b] * third
			if a > 0 {
				p += counts[a-1][b] * first
			}
			if b > 0 {
				p += counts[a][b-1] * second
			}
			return p
		}
		c, err := privacy.Least(epsilon, 1, 3)
		if err != nil || c.Status != privacy.LowerBound {
			t.Fatalf("%+v, %v", c, err)
		}
		blanket, err := privacy.NewBlanket(epsilon, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, central := range []float64{0.3 * epsilon, 0.6 * epsilon} {
			delta := 0.
			for a := range n + 1 {
				for b := range n + 1 - a {
					delta += max(0, with(own, other, other, a, b)-math.Exp(central)*with(other, own, other, a, b))
				}
			}
			got, err := c.Curve(n, delta)
			if err != nil || math.Abs(got/central-1) > 1e-6 {
				t.Errorf("ε = %g: the lower bound at δ = %g is %g, want %g, %v", epsilon, delta, got, central, err)
			}
			if above, err := blanket.Epsilon(n, delta); err != nil || above < central {
				t.Errorf("ε = %g: the upper bound %g is below %g, %v", epsilon, above, central, err)
			}
		}
	}
	for _, c := range []struct {
		epsilon         float64
		sparsity, slots int
	}{{1, 2, 5}, {0, 1, 3}, {1, 0, 3}} {
		if _, err := privacy.Least(c.epsilon, c.sparsity, c.slots); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
