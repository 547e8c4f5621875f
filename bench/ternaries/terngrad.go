package ternaries

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// TernGrad writes a dense ternary vector to dst and returns its scale, max|g_j|.
// Entry j is sign(g_j) with probability |g_j|/scale and 0 otherwise, so that
// scale·dst is the gradient on average (Wen et al. 2017, equations (1) to (3)).
// dst and grad have the same length. A zero gradient gives zeros and scale 0.
// A nil rng means a fresh fl.NewRand. NaN and Inf are errors. O(d).
//
// The scale depends on the gradient. It is not private.
func TernGrad(dst []int8, grad []float64, rng *rand.Rand) (scale float64, err error) {
	if len(dst) != len(grad) {
		return 0, invalid("dst", len(dst), "must be as long as the gradient (%d)", len(grad))
	}
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return 0, notFinite(j, g)
		}
		scale = max(scale, math.Abs(g))
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	for j, g := range grad {
		dst[j] = 0
		if rng.Float64()*scale < math.Abs(g) {
			dst[j] = signOf(g)
		}
	}
	return scale, nil
}
