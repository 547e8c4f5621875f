package slothash

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// ideal is the family of the papers: every function behaves like a uniformly
// random one, for any number of slots. Key x falls under seed r into slot
// ⌊t·h/2^64⌋, h a keyed 64-bit mix of (r, x). Reading a report costs O(d).
//
// The mix is the SplitMix64 finalizer (Steele, Lea, Flood, OOPSLA 2014; variant
// 13 of Stafford's constants), applied once to derive a key from the round's
// public randomness and the seed, and once per key. The deviation from uniform
// slots is below t·2^−64.
type ideal struct {
	layout     Layout
	slots      uint64
	key0, key1 uint64
}

func newIdeal(layout Layout, slots int, key [32]byte) *ideal {
	return &ideal{
		layout: layout,
		slots:  uint64(slots),
		key0:   binary.LittleEndian.Uint64(key[0:8]),
		key1:   binary.LittleEndian.Uint64(key[8:16]),
	}
}

// goldenGamma is the odd integer closest to 2^64 divided by the golden ratio.
const goldenGamma = 0x9E3779B97F4A7C15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// seeded returns the start of the seed's stream of keys.
func (f *ideal) seeded(seed uint32) uint64 {
	return mix(mix(f.key0+goldenGamma*(uint64(seed)+1)) ^ f.key1)
}

// slotAt is the hash itself: start is seeded(seed).
func slotAt(start, slots uint64, key uint32) uint64 {
	slot, _ := bits.Mul64(mix(start+goldenGamma*(uint64(key)+1)), slots)
	return slot
}

func (f *ideal) Func() Func { return &idealFunc{family: f, start: f.seeded(0)} }

// Collide implements Family: 1 − (1 − 1/cells)^r.
func (f *ideal) Collide(r int) float64 {
	cells := float64(f.slots)
	if f.layout == Paired {
		cells /= 2
	}
	return -math.Expm1(float64(r) * math.Log1p(-1/cells))
}

// FalseHit implements Family: the item's slot is independent of the report's.
func (f *ideal) FalseHit(int) float64 { return 1 / float64(f.slots) }

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
	plus, minus []int64
}

func (f *ideal) NewTally(dim int) Tally {
	return &idealTally{family: f, plus: make([]int64, dim), minus: make([]int64, dim)}
}

// Add implements Tally, in O(dim).
func (c *idealTally) Add(seed, slot uint32) {
	start, slots, want := c.family.seeded(seed), c.family.slots, uint64(slot)
	if c.family.layout == Separate {
		for j := range c.plus {
			if slotAt(start, slots, uint32(2*j)) == want {
				c.plus[j]++
			}
			if slotAt(start, slots, uint32(2*j+1)) == want {
				c.minus[j]++
			}
		}
		return
	}
	for j := range c.plus {
		got := slotAt(start, slots, uint32(j)) ^ want
		if got > 1 {
			continue
		}
		if got == 0 {
			c.plus[j]++
		} else {
			c.minus[j]++
		}
	}
}

func (c *idealTally) Merge(other Tally) error {
	o, ok := other.(*idealTally)
	if !ok || *o.family != *c.family || len(o.plus) != len(c.plus) {
		return fmt.Errorf("slothash: merge: the tallies belong to different rounds")
	}
	for j := range c.plus {
		c.plus[j] += o.plus[j]
		c.minus[j] += o.minus[j]
	}
	return nil
}

func (c *idealTally) Counts() (plus, minus []int64) { return c.plus, c.minus }

func (c *idealTally) SetCounts(plus, minus []int64) {
	copy(c.plus, plus)
	copy(c.minus, minus)
}
