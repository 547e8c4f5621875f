package gf2

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// MaxBits is the largest number of bits of a label.
const MaxBits = 30

// Labels assigns distinct labels of m bits to keys. They are a uniformly random
// permutation of [0, 2^m), so that a structure of the keys does not reach the labels.
type Labels struct {
	bits int
	of   []uint32
}

// NewLabels returns labels for the keys 0 … keys−1, with the smallest m ≥ 1 for
// which 2^m ≥ keys. key is public randomness. Time and memory O(2^m).
func NewLabels(keys int, key [32]byte) (*Labels, error) {
	m := BitsFor(keys)
	if keys < 1 || m > MaxBits {
		return nil, fmt.Errorf("gf2: keys: got %d, rule: must be in [1, 2^%d]", keys, MaxBits)
	}
	of := make([]uint32, 1<<m)
	source := rand.NewChaCha8(key)
	for i := range of { // the inside-out shuffle of Fisher and Yates
		// Written out, because all parties must draw the same number whatever their
		// processor and version of Go. It is uniform up to 2^−34.
		j, _ := bits.Mul64(source.Uint64(), uint64(i+1))
		of[i] = of[j]
		of[j] = uint32(i)
	}
	return &Labels{bits: m, of: of}, nil
}

// BitsFor is the number of bits of the labels of a number of keys.
func BitsFor(keys int) int { return max(1, bits.Len(uint(keys-1))) }

// Bits is m.
func (l *Labels) Bits() int { return l.bits }

// Of returns the label of a key below 2^m.
func (l *Labels) Of(key uint32) uint32 { return l.of[key] }
