package pckv

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
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
