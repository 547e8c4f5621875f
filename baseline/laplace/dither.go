package laplace

import (
	"math"
	"math/rand/v2"
)

// dither rounds the coordinates of one gradient to integers, without bias and without
// lengthening the gradient: by systematic sampling (Madow, On the Theory of Systematic
// Sampling II, 1949). With U uniform in [0, 1) and S_j the sum of the first j absolute
// values, coordinate j becomes floor(S_j + U) − floor(S_{j−1} + U), with the sign of its
// own, which is |x_j| on average. Together they are floor(S_d + U), at most the integer B
// when S_d is.
type dither struct {
	sum   uint64 // S + U in units of 2^−fractionBits
	limit uint64
}

func newDither(norm uint64, rng *rand.Rand) dither {
	return dither{sum: rng.Uint64() >> (64 - fractionBits), limit: norm << fractionBits}
}

// round takes the next coordinate in units of 2^−fractionBits, rounded towards 0. What
// goes beyond the limit is cut off, whatever it is.
func (d *dither) round(x float64) int64 {
	before := d.sum >> fractionBits
	// A clipped gradient exceeds the norm by little, so that little is cut off. The U that
	// is cut off with it is below 1 and would not have made another integer.
	d.sum = min(d.sum+uint64(math.Abs(x)), d.limit)
	k := int64(d.sum>>fractionBits - before)
	minus := int64(math.Float64bits(x)) >> 63 // signs are random: a branch would be slow
	return (k ^ minus) - minus
}
