package gf2

import (
	"fmt"
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/splitmix"
)

// Affine is a map ℓ ↦ A·ℓ ⊕ Offset from labels of m bits onto values of k bits,
// and beside it a sign (−1)^(Character·ℓ ⊕ Flip). A has full rank k.
type Affine struct {
	Rows      []uint32 // the k rows of A
	Offset    uint32   // k bits
	Character uint32   // m bits
	Flip      uint32   // 0 or 1

	// A in row echelon form, and the lowest bits of its rows. No later row has that bit.
	echelon []uint32
	pivots  []uint32
}

// Expander draws Affines from 32-bit seeds. A is uniform among the matrices of full
// rank, and everything else is uniform. SplitMix64 stretches the seed. It starts at a
// keyed mix of the seed. An Expander is immutable.
type Expander struct {
	m, k       int
	key0, key1 uint64
}

// NewExpander returns an expander for maps from m to k bits, 0 ≤ k ≤ m ≤ MaxBits,
// keyed by public randomness.
func NewExpander(m, k int, key0, key1 uint64) (*Expander, error) {
	if m < 1 || m > MaxBits || k < 0 || k > m {
		return nil, fmt.Errorf("gf2: affine map: got %d to %d bits, rule: must have 0 <= k <= m <= %d", m, k, MaxBits)
	}
	return &Expander{m: m, k: k, key0: key0, key1: key1}, nil
}

// NewAffine returns an Affine for Draw to fill.
func (e *Expander) NewAffine() *Affine {
	return &Affine{Rows: make([]uint32, e.k), echelon: make([]uint32, e.k), pivots: make([]uint32, e.k)}
}

// drawn is what the stream of a seed begins with, and its state before the rows.
type drawn struct {
	character, flip, offset uint32
	state                   uint64
}

func (e *Expander) begin(seed uint32) drawn {
	state := splitmix.Keyed(e.key0, e.key1, seed) + splitmix.Gamma
	first := splitmix.Mix(state)
	state += splitmix.Gamma
	return drawn{
		character: uint32(first >> ((64 - e.m) & 63)), flip: uint32(first & 1),
		offset: uint32(splitmix.Mix(state)) & (1<<e.k - 1), state: state,
	}
}

// Draw fills a with the map of a seed. A row that depends on the rows before it
// is drawn again. Each row is then uniform outside their span, and A is uniform
// among the matrices of full rank. O(k) draws and O(k²) operations.
func (e *Expander) Draw(a *Affine, seed uint32) {
	d := e.begin(seed)
	a.Character, a.Flip, a.Offset = d.character, d.flip, d.offset
	state, shift := d.state, (64-e.m)&63
	for i := range a.Rows {
		state += splitmix.Gamma
		a.Rows[i] = uint32(splitmix.Mix(state) >> shift)
		for !a.reduce(i) {
			state += splitmix.Gamma
			a.Rows[i] = uint32(splitmix.Mix(state) >> shift)
		}
	}
}

// reduce is the step of Gaussian elimination for row i, after those before it. It is false for a
// row that depends on them. There is no branch to mispredict, and a processor can be at several
// rows at a time.
func (a *Affine) reduce(i int) bool {
	rest, before := a.Rows[i], a.echelon[:i]
	pivots := a.pivots[:len(before)]
	for j, row := range before {
		if rest&pivots[j] == 0 {
			row = 0
		}
		rest ^= row
	}
	lowest := rest & -rest
	a.echelon[i], a.pivots[i] = rest, lowest
	return lowest != 0
}

// Apply returns A·label ⊕ Offset. O(k).
func (a *Affine) Apply(label uint32) uint32 {
	value := a.Offset
	for i, row := range a.Rows {
		value ^= uint32(bits.OnesCount32(row&label)&1) << i
	}
	return value
}

// SignBit returns Character·label ⊕ Flip, 0 or 1.
func (a *Affine) SignBit(label uint32) uint32 {
	return uint32(bits.OnesCount32(a.Character&label)&1) ^ a.Flip
}
