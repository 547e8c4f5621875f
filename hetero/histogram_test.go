package hetero_test

import (
	"testing"

	"github.com/hushgrad/hushgrad/hetero"
)

func TestHistogramMoments(t *testing.T) {
	eps, reals, categories := group()
	w := must(hetero.Saturating(eps))
	h, rng := must(hetero.NewHistogram(eps, w, 3)), newRand()
	_, frequencies := averages(w, reals, categories)
	v := 2 * scale(w, eps)
	variance := []float64{2 * v * v, 2 * v * v, 2 * v * v}
	requireMoments(t, "histogram", frequencies, variance, func() []float64 {
		return must(h.Estimate(categories, rng))
	})
}

func TestHistogramIsClamped(t *testing.T) {
	h, rng := must(hetero.NewHistogram([]float64{1e-6}, hetero.Weights{1}, 2)), newRand()
	for range 50 {
		for _, f := range must(h.Estimate([]int{1}, rng)) {
			if f < 0 || f > 1 {
				t.Errorf("frequency %g", f)
			}
		}
	}
}
