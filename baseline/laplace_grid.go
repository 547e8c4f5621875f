package baseline

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/table"
)

type laplacePerturber struct {
	noise   *table.Table
	norm    uint64  // L1 norm of a clipped gradient, in steps
	perStep float64 // steps per unit of the gradient
}

// Perturb implements integers.Perturber. O(dim).
func (p laplacePerturber) Perturb(dst []byte, grad []float64, clip float64, rng *rand.Rand) []byte {
	dst = slices.Grow(dst, 2*len(grad))
	units := newDither(p.norm, rng)
	perUnit := p.perStep * (1 << fractionBits)
	var word uint64
	for j, g := range grad {
		if j%2 == 0 {
			word = rng.Uint64()
		}
		v := units.round(g*clip*perUnit) + p.draw(uint32(word), rng)
		word >>= 32
		dst = binary.LittleEndian.AppendUint16(dst, uint16(min(max(v, math.MinInt16), math.MaxInt16)))
	}
	return dst
}

// draw returns m or −m−1 for a geometric m. word is uniform.
func (p laplacePerturber) draw(word uint32, rng *rand.Rand) int64 {
	m := int64(p.noise.Draw(word, rng))
	for low := m; low == escape; {
		low = int64(p.noise.Draw(rng.Uint32(), rng))
		m += low
	}
	return m ^ -int64(word>>31)
}

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

const (
	// block is the number of magnitudes in the table; the last of its entries means that
	// block is to be added and the table to be asked again.
	block  = table.Len - 1
	escape = block

	expBits = 160 // fractional bits of exact.LowerExp
)

// magnitudes returns the weights w_0, …, w_{block−1} and w_escape, of sum T =
// 2^table.TotalBits, in about the proportion of e^(−η·m). With these weights magnitude m has the
// probability
//
//	P[m] = w_{m mod block}/T·(w_escape/T)^⌊m/block⌋,
//
// and neighbours differ by a factor of at most e^η. Within a block w_m is the largest
// integer up to w_{m+1}·e^η, so that none is larger than the one before it. Between
// blocks P[block−1]/P[block] = w_{block−1}·T/(w_0·w_escape). With w_{block−1} =
// T·(1−e^−η)·e^(−η(block−1)) and reals for integers that is e^η; a w_{block−1} that is
// smaller by 2^−40 of itself leaves 2^−40·T for escape beyond that, which is more than
// the 2^−60 of itself that w_0 loses by rounding, and lowers the ratio.
func magnitudes(eta float64) []*big.Int {
	e := exact.LowerExp(eta)
	rest := new(big.Int).Lsh(big.NewInt(1), table.TotalBits)
	// −expm1(−η) has a relative error of 2^−52.
	last := -math.Expm1(-eta) * math.Exp(-eta*(block-1)) * (1 - 0x1p-40)
	w, _ := new(big.Float).SetMantExp(big.NewFloat(last), table.TotalBits).Int(nil)
	weights := make([]*big.Int, table.Len)
	for m := block - 1; m >= 0; m-- {
		weights[m] = new(big.Int).Set(w)
		rest.Sub(rest, w)
		w.Rsh(w.Mul(w, e), expBits)
	}
	weights[escape] = rest
	return weights
}
