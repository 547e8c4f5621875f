package laplace

import (
	"math"
	"math/big"

	"github.com/hushgrad/hushgrad/baseline/internal/table"
	"github.com/hushgrad/hushgrad/internal/exact"
)

const (
	// block is the number of magnitudes in the table; the last of its entries means that
	// block is to be added and the table to be asked again.
	block  = table.Len - 1
	escape = block

	expBits = 160 // fractional bits of exact.LowerExp
)

// magnitudes returns weights w_0, …, w_{block−1} and that of escape, of sum T =
// 2^table.TotalBits, in about the proportion of e^(−η·m). With them magnitude m has the
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
