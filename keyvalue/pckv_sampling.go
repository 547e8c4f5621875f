package keyvalue

import (
	"math/big"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
)

// signedKey is what a client sends: a key below dim, or a dummy in [dim, dim+ℓ).
type signedKey struct {
	key   int
	minus bool
}

// padAndSample is Algorithm 1. O(1).
func padAndSample(pairs []fl.KeyValue, dim, padding int, choose exact.Chooser) signedKey {
	if i := choose.Uniform(uint64(max(len(pairs), padding))); i < uint64(len(pairs)) {
		return signedKey{key: int(pairs[i].Key), minus: isMinus(pairs[i].Value, choose)}
	}
	dummy := choose.Uniform(uint64(padding))
	return signedKey{key: dim + int(dummy), minus: isMinus(0, choose)}
}

// isMinus is true with probability (1−value)/2 in units of 2^−53.
func isMinus(value float64, choose exact.Chooser) bool {
	minus := uint64((1 - value) * (1 << 52))
	return choose.Weighted([]uint64{1<<53 - minus, minus}) == 1
}

// weights are the integer weights of the signed key that is sent and of any other.
type weights struct{ high, low uint64 }

const (
	// maxTotal bounds every sum of weights.
	maxTotal = 1 << 62
	// leastGain is the least high − low: rounding takes at most one part in 1024 of
	// the signal.
	leastGain = 1 << 10
	// expBits is the number of fractional bits of exact.LowerExp.
	expBits = 160
)

// newWeights returns the weights with the largest power of two as low, and the
// largest high ≤ low·(1+gain·(e^ε−1)), for which high + others·low ≤ 2^62. The product
// is taken with a lower bound of e^ε, so that the ratio is never too large.
func newWeights(epsilon float64, gain int, others uint64) (weights, error) {
	one := new(big.Int).Lsh(big.NewInt(1), expBits)
	excess := exact.LowerExp(epsilon)
	excess.Sub(excess, one)
	excess.Mul(excess, big.NewInt(int64(gain))) // gain·(e^ε−1)
	total := new(big.Int).Lsh(new(big.Int).SetUint64(others+1), expBits)
	total.Add(total, excess)
	shift := bits.Len64(maxTotal) - 1 - (total.BitLen() - expBits) // total < 2^BitLen
	if shift >= 0 {
		low := uint64(1) << shift
		high := new(big.Int).Rsh(excess.Lsh(excess, uint(shift)), expBits).Uint64() + low
		if high-low >= leastGain {
			return weights{high: high, low: low}, nil
		}
	}
	return weights{}, fl.Invalid("epsilon", epsilon, "weights for %d outcomes must fit 62 bits: dim, padding or epsilon is out of range", others+1)
}
