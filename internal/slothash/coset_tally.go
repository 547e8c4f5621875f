package slothash

import (
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/gf2"
)

// cosetTally counts hits label by label: for + and − in the Paired layout (the
// labels are coordinates), in one array in the Separate layout (the labels are
// items).
type cosetTally struct {
	counters
	family *linear
	affine *gf2.Affine
	coset  *gf2.Coset
}

func newCosetTally(f *linear) *cosetTally {
	arrays := 1
	if f.shape.Layout == Paired {
		arrays = 2
	}
	sizes := make([]int, arrays)
	for i := range sizes {
		sizes[i] = 1 << f.m
	}
	return &cosetTally{counters: newCounters(sizes...), family: f, affine: f.expander.NewAffine(), coset: gf2.NewCoset(f.m, f.k)}
}

// Add implements Tally: 2^(m−k) additions.
func (c *cosetTally) Add(seed, slot uint32) {
	c.family.expander.Draw(c.affine, seed)
	if c.family.shape.Layout == Separate {
		c.coset.Solve(c.affine, slot)
		hits, label := c.arrays[0], c.coset.Point
		hits.add(label, 0)
		for i := uint32(1); i < 1<<len(c.coset.Kernel); i++ {
			label ^= c.coset.Kernel[bits.TrailingZeros32(i)]
			hits.add(label, 0)
		}
		return
	}
	c.coset.Solve(c.affine, slot>>1)
	label := c.coset.Point
	c.arrays[c.affine.SignBit(label)^slot&1].add(label, 0)
	for i := uint32(1); i < 1<<len(c.coset.Kernel); i++ {
		label ^= c.coset.Kernel[bits.TrailingZeros32(i)]
		c.arrays[c.affine.SignBit(label)^slot&1].add(label, 0)
	}
}

func (c *cosetTally) Merge(other Tally) error {
	o, ok := other.(*cosetTally)
	if !ok || !c.family.sameRound(o.family) {
		return errOtherRound
	}
	c.merge(o.counters)
	return nil
}

func (c *cosetTally) Counts() (plus, minus []int64) {
	dim, labels := c.family.shape.Dim, c.family.labels
	plus, minus = make([]int64, dim), make([]int64, dim)
	hits := c.State()
	for j := range dim {
		if c.family.shape.Layout == Paired {
			label := labels.Of(uint32(j))
			plus[j], minus[j] = int64(hits[0][label]), int64(hits[1][label])
		} else {
			plus[j] = int64(hits[0][labels.Of(uint32(2*j))])
			minus[j] = int64(hits[0][labels.Of(uint32(2*j+1))])
		}
	}
	return plus, minus
}
