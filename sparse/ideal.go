package sparse

import (
	"math/bits"
	"slices"

	"github.com/hushgrad/hushgrad/internal/splitmix"
)

// ideal makes every function behave like a uniformly random one. Key x falls
// under seed r into slot ⌊t·h/2^64⌋, h a keyed 64-bit mix of (r, x). Reading a
// report costs O(d).
//
// Package splitmix mixes, once to derive a start from the round's public randomness
// and the seed, and once per key. The deviation from uniform slots is below t·2^−64.
type ideal struct {
	Chances
	shape      HashShape
	slots      uint64
	key0, key1 uint64
}

// seeded returns the start of the seed's stream of keys.
func (f *ideal) seeded(seed uint32) uint64 { return splitmix.Keyed(f.key0, f.key1, seed) }

// slotAt is the hash itself: start is seeded(seed).
func slotAt(start, slots uint64, key uint32) uint64 {
	slot, _ := bits.Mul64(splitmix.Mix(start+splitmix.Gamma*(uint64(key)+1)), slots)
	return slot
}

func (f *ideal) Func() HashFunc { return &idealFunc{family: f, start: f.seeded(0)} }

type idealFunc struct {
	family *ideal
	start  uint64
}

func (h *idealFunc) Bind(seed uint32) { h.start = h.family.seeded(seed) }

func (h *idealFunc) Slot(key uint32) uint32 {
	return uint32(slotAt(h.start, h.family.slots, key))
}

// idealTally scans all coordinates for every report.
type idealTally struct {
	family      *ideal
	plus, minus []int32 // hits of each coordinate
}

func (f *ideal) NewTally() Tally {
	return &idealTally{family: f, plus: make([]int32, f.shape.Dim), minus: make([]int32, f.shape.Dim)}
}

// Add implements Tally, in O(dim).
func (c *idealTally) Add(seed, slot uint32) {
	start, slots, want := c.family.seeded(seed), c.family.slots, uint64(slot)
	plus, minus := c.plus, c.minus
	if c.family.shape.Layout == Separate {
		for j := range plus {
			if slotAt(start, slots, uint32(2*j)) == want {
				plus[j]++
			}
			if slotAt(start, slots, uint32(2*j+1)) == want {
				minus[j]++
			}
		}
		return
	}
	for j := range plus {
		switch slotAt(start, slots, uint32(j)) ^ want {
		case 0:
			plus[j]++
		case 1:
			minus[j]++
		}
	}
}

func (c *idealTally) Merge(other Tally) error {
	o, ok := other.(*idealTally)
	if !ok || o.family.shape != c.family.shape || o.family.key0 != c.family.key0 || o.family.key1 != c.family.key1 {
		return errOtherRound
	}
	for j := range c.plus {
		c.plus[j] += o.plus[j]
		c.minus[j] += o.minus[j]
	}
	return nil
}

func (c *idealTally) Counts() (plus, minus []int32) {
	return slices.Clone(c.plus), slices.Clone(c.minus)
}

// Integers implements Tally.
func (c *idealTally) Integers() int { return 2 * c.family.shape.Dim }

// Visit implements Tally: the hits of + and then the hits of −.
func (c *idealTally) Visit(f func(int32) int32) {
	for _, hits := range [][]int32{c.plus, c.minus} {
		for j, v := range hits {
			hits[j] = f(v)
		}
	}
}
