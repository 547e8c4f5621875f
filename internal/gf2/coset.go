package gf2

import "math/bits"

// Coset is the set of labels that an affine map sends to one value: a point and
// a basis of the kernel, 2^(m−k) labels. It is reused without allocating.
//
// The highest bit of a vector of the basis is in no other of them, and they are in ascending
// order. The point has none of these bits.
type Coset struct {
	m      int
	Point  uint32
	Kernel []uint32 // m−k vectors
}

// NewCoset returns a Coset for maps from m to k bits.
func NewCoset(m, k int) *Coset {
	return &Coset{m: m, Kernel: make([]uint32, 0, m-k)}
}

// Solve finds the labels that a, which was drawn, maps to value. O(k·(m−k)).
func (c *Coset) Solve(a *Affine, value uint32) {
	free := uint32(1)<<c.m - 1
	for _, p := range a.pivots {
		free &^= p
	}
	c.Point = a.solve(0, value^a.Offset)
	c.Kernel = c.Kernel[:0]
	for ; free != 0; free &= free - 1 {
		c.Kernel = append(c.Kernel, a.solve(free&-free, 0))
	}
}

// solve returns the label that A maps to right and whose bits other than pivots are those of
// label, which has no others.
func (a *Affine) solve(label, right uint32) uint32 {
	x, pivots := uint64(right)<<32|uint64(label), a.pivots[:len(a.echelon)]
	for i := len(a.echelon) - 1; i >= 0; i-- {
		odd := uint32(bits.OnesCount64(a.echelon[i]&x) & 1)
		x |= uint64(pivots[i] & -odd)
	}
	return uint32(x)
}
