package verify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Both bounds leave exactly alpha of the binomial law beyond what was seen, up to the
// margin of 1e-6 against us.
func TestBoundsLeaveAlphaBeyond(t *testing.T) {
	for _, c := range []struct{ k, n int }{{1, 10}, {10, 10}, {3, 50}, {500, 5000}, {4999, 5000}, {2, 1_000_000}} {
		for _, alpha := range []float64{0.05, 1e-4, 1e-8} {
			p := lowerP(c.k, c.n, alpha)
			beyond := 0.0 // P[Bin(n, p) ≥ k], by its terms
			b := distuv.Binomial{N: float64(c.n), P: p}
			for k := c.k; k <= min(c.n, c.k+2000); k++ {
				beyond += b.Prob(float64(k))
			}
			if !(beyond <= alpha && beyond > alpha*(1-1e-5)) {
				t.Errorf("%d of %d, alpha %g: at the bound %g what was seen has probability %g", c.k, c.n, alpha, p, beyond)
			}
			if u := upperP(c.n-c.k, c.n, alpha); u != 1-p {
				t.Errorf("%d of %d, alpha %g: upper bound %g, want 1 - %g", c.n-c.k, c.n, alpha, u, p)
			}
		}
	}
	if lowerP(0, 10, 0.1) != 0 || upperP(10, 10, 0.1) != 1 {
		t.Error("a bound without a hit, or without a miss")
	}
}

func TestEpsilonBound(t *testing.T) {
	// 50 of 50 against 0 of 50: p^50 = alpha and (1 − p)^50 = alpha.
	lower := math.Pow(1e-3, 1./50)
	for _, delta := range []float64{0, 0.25} {
		want := math.Log((lower - delta) / (1 - lower))
		if got, _, _ := epsilonBound(50, 0, 50, delta, 1e-3); math.Abs(got-want) > 1e-5 {
			t.Errorf("δ = %g: ε >= %g, want %g", delta, got, want)
		}
	}
	if got, _, _ := epsilonBound(1, 0, 50, 0.5, 1e-3); !math.IsInf(got, -1) {
		t.Errorf("a probability below δ: ε >= %g, want none", got)
	}
}
