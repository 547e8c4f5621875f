package sparse

import (
	"math/bits"

	"github.com/hushgrad/hushgrad/internal/gf2"
)

// cosetTally counts hits label by label. In the Paired layout, where the labels are
// coordinates, a place is a label and then a bit, 1 for −. In the Separate layout, where the labels
// are items, a place is a label.
type cosetTally struct {
	family *linear
	cosets *gf2.Cosets
	seeds  []uint32 // of reports whose cosets are not in the sweep yet
	slots  []uint32
	cells  []uint32
	sweep  *sweep
}

// signBits is the number of bits of a place that are a sign.
func (f *linear) signBits() int {
	if f.shape.Layout == Paired {
		return 1
	}
	return 0
}

// Add implements Tally: 2^(m−k) additions.
func (c *cosetTally) Add(seed, slot uint32) {
	c.seeds, c.slots = append(c.seeds, seed), append(c.slots, slot)
	if len(c.seeds) == gf2.Batch {
		c.solve()
	}
}

// solve finds the cosets of the reports. In the Paired layout the places that are hit are an affine
// subspace, too: the sign of a label is affine.
func (c *cosetTally) solve() {
	signs := c.family.signBits()
	for i, slot := range c.slots {
		c.cells[i] = slot >> signs
	}
	c.cosets.Solve(c.seeds, c.cells[:len(c.seeds)])
	for i, slot := range c.slots {
		point, kernel := c.cosets.Coset(i)
		if signs > 0 {
			character, flip := c.cosets.Sign(i)
			for j, v := range kernel {
				kernel[j] = v<<1 | parity(character&v)
			}
			point = point<<1 | parity(character&point) ^ flip ^ slot&1
		}
		c.sweep.add(point, kernel)
	}
	c.seeds, c.slots = c.seeds[:0], c.slots[:0]
}

func parity(x uint32) uint32 { return uint32(bits.OnesCount32(x) & 1) }

// settle counts everything that was added.
func (c *cosetTally) settle() {
	c.solve()
	c.sweep.settle()
}

func (c *cosetTally) Merge(other Tally) error {
	o, ok := other.(*cosetTally)
	if !ok || !c.family.sameRound(o.family) {
		return errOtherRound
	}
	o.settle()
	c.sweep.merge(o.sweep.sums)
	return nil
}

// Counts implements Tally. O(dim).
func (c *cosetTally) Counts() (plus, minus []int32) {
	c.settle()
	plus, minus = make([]int32, c.family.shape.Dim), make([]int32, c.family.shape.Dim)
	c.family.eachLabel(func(first int, labels []uint32) {
		if c.family.shape.Layout == Paired {
			for i, label := range labels {
				plus[first+i], minus[first+i] = c.sweep.at(label<<1), c.sweep.at(label<<1|1)
			}
			return
		}
		for i := range len(labels) / 2 {
			plus[first+i], minus[first+i] = c.sweep.at(labels[2*i]), c.sweep.at(labels[2*i+1])
		}
	})
	return plus, minus
}

// Integers implements Tally.
func (c *cosetTally) Integers() int { return len(c.sweep.low) }

// Visit implements Tally: the hits of all labels with the sign +, and then those with −.
func (c *cosetTally) Visit(f func(int32) int32) {
	c.settle()
	signs := c.family.signBits()
	for sign := range uint32(1) << signs {
		for label := range uint32(1) << c.family.m {
			c.sweep.visit(label<<signs|sign, f)
		}
	}
}
