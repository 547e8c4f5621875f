package gf2

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// MaxBits is the largest number of bits of a label.
const MaxBits = 30

// drawnBits is the largest m for which the permutation is drawn and kept. At 16 it takes a
// millisecond and 256 KiB, at 24 it would take seconds and 64 MiB.
const drawnBits = 16

// Labels assigns distinct labels of m bits to keys: a permutation of [0, 2^m) that public
// randomness chooses, so that a structure of the keys does not reach the labels. It is immutable
// and safe for concurrent use.
//
// Up to m = 16 the permutation is drawn, and kept in a table. From m = 17 on
// it is computed for each key, by a Feistel network whose round functions are drawn. It is then
// one of fewer permutations, and close to uniform for any few keys. The package documentation
// says how close.
type Labels struct {
	bits     int
	drawn    []uint32 // of the keys, up to drawnBits
	computed *feistel // beyond
}

// NewLabels returns labels for the keys 0 … keys−1, with the smallest m ≥ 1 for
// which 2^m ≥ keys. key is public randomness. Time and memory are O(2^m) up to m = 16 and
// O(2^(m/2)) from there on.
func NewLabels(keys int, key [32]byte) (*Labels, error) {
	m := BitsFor(keys)
	if keys < 1 || m > MaxBits {
		return nil, fmt.Errorf("gf2: keys: got %d, rule: must be in [1, 2^%d]", keys, MaxBits)
	}
	source := rand.NewChaCha8(key)
	if m > drawnBits {
		return &Labels{bits: m, computed: newFeistel(m, source)}, nil
	}
	return &Labels{bits: m, drawn: shuffled(1<<m, source)}, nil
}

// shuffled draws a permutation of [0, n), by the inside-out shuffle of Fisher and Yates.
func shuffled(n int, source *rand.ChaCha8) []uint32 {
	of := make([]uint32, n)
	for i := range of {
		// Written out, because all parties must draw the same number whatever their
		// processor and version of Go. Draw i is uniform up to (i+1)·2^−64, and all draws of
		// 2^16 labels together are up to 2^−32.
		j, _ := bits.Mul64(source.Uint64(), uint64(i+1))
		of[i] = of[j]
		of[j] = uint32(i)
	}
	return of
}

// BitsFor is the number of bits of the labels of a number of keys.
func BitsFor(keys int) int { return max(1, bits.Len(uint(keys-1))) }

// Bits is m.
func (l *Labels) Bits() int { return l.bits }

// Of returns the label of a key below 2^m.
func (l *Labels) Of(key uint32) uint32 {
	if l.computed == nil {
		return l.drawn[key]
	}
	return l.computed.of(key)
}

// Fill writes the labels of the keys from first on, all below 2^m, to dst. That is several times as
// fast as Of for one key after the other where labels are computed.
func (l *Labels) Fill(dst []uint32, first uint32) {
	if l.computed == nil {
		copy(dst, l.drawn[first:])
		return
	}
	l.computed.fill(dst, first)
}
