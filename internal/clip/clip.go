// Package clip measures gradients so that every finite one can be shortened to a norm. Use it
// in a mechanism that clips the L1 or the L2 norm: a gradient that it refused would reveal,
// by a report that is missing, what its client holds. Start with [Measure].
package clip

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Gradient is a gradient in units in which its norm neither overflows nor is so far above the
// scale that their quotient vanishes. The unit is 1, but for gradients of huge numbers.
type Gradient struct {
	// Short is the gradient in these units: the caller's slice where the unit is 1. The
	// absolute values of another slice are below 2, and below 2^-1000 they may be rounded.
	Short []float64
	// Length is the norm of Short. It is off by at most 2^-25 of itself.
	Length float64
	// Limit is the scale in these units: the gradient is too long when Length is above it.
	Limit float64
}

// far is how much longer than the scale, and than 1, a gradient may be in the unit 1.
const far = 0x1p900

// Measure measures a gradient by its L1 or L2 norm, where norm is 1 or 2. scale is finite and
// positive. NaN, Inf and a wrong length are *fl.ParamErrors. O(dim), without allocations
// where the unit is 1.
func Measure(grad []float64, dim int, norm, scale float64) (Gradient, error) {
	if len(grad) != dim {
		return Gradient{}, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", dim)
	}
	length := floats.Norm(grad, norm)
	if length < far && length < far*scale {
		return Gradient{Short: grad, Length: length, Limit: scale}, nil
	}
	largest := 0.0 // also when the length is NaN
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return Gradient{}, fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j)
		}
		largest = max(largest, math.Abs(g))
	}
	unit := math.Ilogb(largest)
	short := make([]float64, len(grad))
	for j, g := range grad {
		short[j] = math.Ldexp(g, -unit)
	}
	return Gradient{Short: short, Length: floats.Norm(short, norm), Limit: math.Ldexp(scale, -unit)}, nil
}

// Factor returns the number by which Short is multiplied to be the clipped gradient in the
// unit 1: its norm is then at most scale, the one that was given to Measure.
func (g Gradient) Factor(scale float64) float64 {
	return scale / max(g.Length, g.Limit)
}
