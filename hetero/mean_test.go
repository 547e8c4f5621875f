package hetero_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/hetero"
)

func TestMeanMoments(t *testing.T) {
	eps, reals, categories := group()
	w := must(hetero.Saturating(eps))
	m, rng := must(hetero.NewMean(eps, w)), newRand()
	mean, _ := averages(w, reals, categories)
	v := scale(w, eps)
	requireMoments(t, "mean", []float64{mean}, []float64{2 * v * v}, func() []float64 {
		return []float64{must(m.Estimate(reals, rng))}
	})
	requireClose(t, "StdDev", m.StdDev(), math.Sqrt2*v, 1e-9)
}

func TestMeanOfPublicDataIsExact(t *testing.T) {
	eps := []float64{inf, inf, 1}
	m := must(hetero.NewMean(eps, hetero.Weights{0.25, 0.75, 0}))
	requireClose(t, "mean", must(m.Estimate([]float64{1, 0.5, 0}, newRand())), 0.625, 1e-15)
	requireClose(t, "StdDev", m.StdDev(), 0, 0)
	if free := m.FreePrivacy(); free[0] != inf || free[2] != 0 {
		t.Errorf("free privacy %v, want +Inf for data published as it is and 0 for what is left out", free)
	}
}

func TestMeanIsClamped(t *testing.T) {
	m, rng := must(hetero.NewMean([]float64{1e-6}, hetero.Weights{1})), newRand()
	seen := map[float64]int{}
	for range 100 {
		seen[must(m.Estimate([]float64{0.5}, rng))]++
	}
	// The noise is in [−1/2, 1/2] with probability 5e−7; one side is empty with 2^−99.
	if seen[0]+seen[1] != 100 || seen[0] == 0 || seen[1] == 0 {
		t.Errorf("estimates %v, want 0 and 1", seen)
	}
}

// FreePrivacy is w_i/‖w/ε‖_∞, never above ε.
func TestFreePrivacy(t *testing.T) {
	rng := newRand()
	for range 200 {
		eps := demands(rng, 1+rng.IntN(8))
		w := must(hetero.Uncorrelated(eps, 1))
		v := scale(w, eps)
		for i, e := range must(hetero.NewMean(eps, w)).FreePrivacy() {
			if e > eps[i] {
				t.Errorf("ε = %v: user %d gets %g", eps, i, e)
			}
			if v > 0 {
				// A grid unit is at most 2^−44 of v, so worth 2^−44 in ε: of the user's own, and
				// of the smallest one, which sets the noise.
				if want := w[i] / v; math.Abs(e-want) > 0x1p-44*(2+want/floats.Min(eps)) {
					t.Errorf("ε = %v: user %d gets %g, want %g", eps, i, e, want)
				}
			}
		}
	}
}

// Changing the arguments afterwards changes nothing.
func TestNewMeanCopies(t *testing.T) {
	eps, w := []float64{1, 2}, hetero.Weights{0.5, 0.5}
	m := must(hetero.NewMean(eps, w))
	eps[0], w[0] = 1e-9, 0
	if free := m.FreePrivacy(); math.Abs(free[0]-1) > 1e-9 {
		t.Errorf("free privacy %v after a change of the arguments, want 1 for both", free)
	}
}
