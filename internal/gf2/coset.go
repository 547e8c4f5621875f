package gf2

import "math/bits"

// Coset is the set of labels that an affine map sends to one value: a point and
// a basis of the kernel, 2^(m−k) labels. It is reused without allocating.
type Coset struct {
	m      int
	Point  uint32
	Kernel []uint32 // m−k vectors

	rows   []uint32 // scratch: A in reduced row echelon form
	values []uint32 // scratch: the right-hand sides, one bit each
	pivots []uint32
}

// NewCoset returns a Coset for maps from m to k bits.
func NewCoset(m, k int) *Coset {
	return &Coset{m: m, Kernel: make([]uint32, 0, m-k), rows: make([]uint32, k), values: make([]uint32, k), pivots: make([]uint32, k)}
}

// Solve finds the labels that a maps to value, by Gauss–Jordan elimination.
// O(k² + k·(m−k)).
func (c *Coset) Solve(a *Affine, value uint32) {
	right := value ^ a.Offset
	pivots := uint32(0)
	for i, row := range a.Rows {
		v := right >> i & 1
		for j := range i { // without a branch to mispredict
			hit := row >> (c.pivots[j] & 31) & 1
			row ^= c.rows[j] & -hit
			v ^= c.values[j] & hit
		}
		p := uint32(bits.Len32(row) - 1) // a has full rank: row is not zero
		c.rows[i], c.values[i], c.pivots[i] = row, v, p
		pivots |= 1 << p
		for j := range i {
			hit := c.rows[j] >> (p & 31) & 1
			c.rows[j] ^= row & -hit
			c.values[j] ^= v & hit
		}
	}
	c.Point = 0
	for i, p := range c.pivots {
		c.Point |= c.values[i] << p
	}
	c.Kernel = c.Kernel[:0]
	for free := (uint32(1)<<c.m - 1) &^ pivots; free != 0; free &= free - 1 {
		bit := free & -free
		vector := bit
		for i, row := range c.rows {
			if row&bit != 0 {
				vector |= 1 << c.pivots[i]
			}
		}
		c.Kernel = append(c.Kernel, vector)
	}
}
