package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// Weights are the integer slot weights of a randomizer that must give s slots
// the weight e^ε and t−s slots the weight 1.
//
// The exact weights are not rational, so they are rounded in the one direction
// that keeps the promise: Low is a power of two and High is the largest integer
// with High ≤ Low·e^ε (certified against a rational lower bound of e^ε). Every
// slot of every input then has a probability in [Low/Total, High/Total], with
// the same Total for all inputs, so the ratio of any two of them is at most
// High/Low ≤ e^ε. What is lost is below 2^−24 in relative terms.
type Weights struct {
	High, Low uint64
	Total     uint64 // s·High + (t−s)·Low, below 2^62
}

// maxTotalBits bounds Total, so that sums of weights stay far from overflow.
const maxTotalBits = 62

// NewWeights returns the weights for a budget ε in (0, 20] and 1 ≤ s < t.
func NewWeights(epsilon float64, s, t int) (Weights, error) {
	if !(epsilon > 0 && epsilon <= 20) {
		return Weights{}, fmt.Errorf("exact: epsilon: got %g, rule: must be in (0, 20]", epsilon)
	}
	if s < 1 || t <= s {
		return Weights{}, fmt.Errorf("exact: slots: got s=%d and t=%d, rule: must have 1 <= s < t", s, t)
	}
	e := LowerExp(epsilon)
	// The largest shift for which s·⌈e⌉·2^shift + (t−s)·2^shift stays below 2^62.
	perUnit := float64(s)*(math.Exp(epsilon)+1) + float64(t-s)
	shift := maxTotalBits - 1 - int(math.Ceil(math.Log2(perUnit)))
	if shift < 0 || float64(shift)+epsilon*math.Log2E < 25 {
		return Weights{}, fmt.Errorf("exact: slots: got epsilon=%g, s=%d, t=%d, rule: weights must fit into %d bits", epsilon, s, t, maxTotalBits)
	}
	low := uint64(1) << shift
	high := new(big.Int).Lsh(e, uint(shift))
	high.Rsh(high, expBits)
	w := Weights{High: high.Uint64(), Low: low}
	w.Total = uint64(s)*w.High + uint64(t-s)*w.Low
	if bits.Len64(w.Total) > maxTotalBits {
		return Weights{}, fmt.Errorf("exact: slots: got epsilon=%g, s=%d, t=%d of weight %d, rule: weights must fit into %d bits", epsilon, s, t, w.Total, maxTotalBits)
	}
	return w, nil
}

// expBits is the number of fractional bits of LowerExp.
const expBits = 160

// LowerExp returns the integer part of a lower bound of e^x·2^160, for x ≥ 0.
// It sums the Taylor series of e^x in fixed point; every term is positive, every
// division rounds down and the tail is cut, so the result is never above. The
// error is below 2^−140 in relative terms for x ≤ 20.
func LowerExp(x float64) *big.Int {
	exactX := new(big.Rat).SetFloat64(x)
	term := new(big.Int).Lsh(big.NewInt(1), expBits)
	sum := new(big.Int).Set(term)
	for k := int64(1); term.Sign() > 0; k++ {
		term.Mul(term, exactX.Num())
		term.Quo(term, exactX.Denom())
		term.Quo(term, big.NewInt(k))
		sum.Add(sum, term)
	}
	return sum
}
