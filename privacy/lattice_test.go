package privacy_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/privacy"
)

// Pure and approximate mechanisms have the optimal composition of Kairouz, Oh and
// Viswanath, computed from exact binomials by package privacy to 10^-10.
func TestOptimalComposition(t *testing.T) {
	for _, each := range []struct{ epsilon, delta float64 }{{0.1, 0}, {1, 0}, {0.3, 1e-12}, {0.05, 1e-6}} {
		d := must[*privacy.Distribution](t)(privacy.Approximate(each.epsilon, each.delta, privacy.Options{}))
		for _, k := range []int{1, 2, 10, 100, 1000} {
			composed := must[*privacy.Distribution](t)(d.Compose(k))
			reference := privacy.Homogeneous{Epsilon: each.epsilon, Delta: each.delta, Count: k}
			for _, delta := range deltas {
				if delta <= float64(k)*each.delta {
					continue
				}
				truth := must[float64](t)(reference.EpsilonAt(delta))
				b := must[privacy.Bounds](t)(composed.Epsilon(t.Context(), delta))
				enclose(t, "optimal ε", b, truth, 3e-10, 1e-6)
				epsilon := 0.9 * truth
				at := must[float64](t)(reference.DeltaAt(epsilon))
				enclose(t, "optimal δ", must[privacy.Bounds](t)(composed.Delta(t.Context(), epsilon)), at, 3e-10, 1e-6*at+1e-18)
			}
		}
	}
}

// laplaceDelta sums over all pairs or triples of outputs of discrete Laplace noise.
func laplaceDelta(eta float64, shift, k int, epsilon float64) float64 {
	const reach = 60 // e^{−60·0.9} of mass is left out
	var visit func(k int, p, q float64) float64
	visit = func(k int, p, q float64) float64 {
		if k == 0 {
			return math.Max(0, p-math.Exp(epsilon)*q)
		}
		sum := 0.0
		for x := -reach; x <= reach; x++ {
			law := func(x int) float64 { return math.Tanh(eta/2) * math.Exp(-eta*math.Abs(float64(x))) }
			sum += visit(k-1, p*law(x), q*law(x-shift))
		}
		return sum
	}
	return visit(k, 1, 1)
}

func TestDiscreteLaplaceBruteForce(t *testing.T) {
	for _, shift := range []int{1, 2, 5} {
		d := must[*privacy.Distribution](t)(privacy.DiscreteLaplace(0.9, shift, privacy.Options{}))
		for k := 1; k <= 3; k++ {
			if (k == 3 || k == 2 && shift == 5) && !*privacy.Long {
				continue
			}
			composed := must[*privacy.Distribution](t)(d.Compose(k))
			for _, share := range []float64{0, 0.31, 0.7, 0.98} {
				epsilon := share * 0.9 * float64(shift*k)
				truth := laplaceDelta(0.9, shift, k, epsilon)
				b := must[privacy.Bounds](t)(composed.Delta(t.Context(), epsilon))
				enclose(t, "discrete Laplace δ", b, truth, 1e-9, 1e-7*truth+1e-9)
			}
		}
	}
}

// A grid that does not hold the losses must still enclose the truth.
func TestOffGrid(t *testing.T) {
	a := must[*privacy.Distribution](t)(privacy.Pure(0.1, privacy.Options{}))
	b := must[*privacy.Distribution](t)(privacy.Pure(0.1/math.Pi, privacy.Options{}))
	both := must[*privacy.Distribution](t)(a.Then(t.Context(), b))
	// Two responses: all four outcomes.
	truth := func(epsilon float64) (delta float64) {
		for _, x := range []float64{0.1, -0.1} {
			for _, y := range []float64{0.1 / math.Pi, -0.1 / math.Pi} {
				mass := 1 / (1 + math.Exp(-x)) / (1 + math.Exp(-y))
				delta += mass * math.Max(0, 1-math.Exp(epsilon-x-y))
			}
		}
		return delta
	}
	for _, epsilon := range []float64{0, 0.05, 0.07, 0.1, 0.131} {
		got := must[privacy.Bounds](t)(both.Delta(t.Context(), epsilon))
		enclose(t, "two responses", got, truth(epsilon), 1e-12, 1e-3)
	}
}
