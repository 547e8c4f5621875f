package sparse

import (
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/gf2"
)

// Chances are the exact hit probabilities that the choice of a hash function
// leads to, over its own randomness and the randomness of the round's labels. Cells
// are pairs of slots in the Paired layout and single slots otherwise.
type Chances interface {
	// Together is the probability that two keys fall into the same cell.
	Together() float64
	// Overwritten is the probability that a fixed one of s keys in random order
	// shares its cell with a key that comes later. O(s).
	Overwritten(s int) float64
	// FalseHit is the probability that an item whose coordinate is not among the
	// client's s falls into the reported slot, when the cell of each of the
	// client's own keys is the reported one with probability own.
	FalseHit(s int, own float64) float64
	// FalsePair is the probability that both items of a coordinate that is not
	// among the client's fall into the reported slot (0 in the Paired layout).
	FalsePair(s int, own float64) float64
}

// Names of the hash families.
const (
	// HashGF2 is linear over GF(2). Decoding a report takes O(√dim). The number of slots must be
	// a power of two. It is the default.
	HashGF2 = "gf2"
	// HashIdeal is the family of the papers: it gives every item an independent slot, for any number of
	// slots. Decoding a report takes O(dim).
	HashIdeal = "ideal"
)

// HashFamilies lists the names of the families, the default first.
func HashFamilies() []string { return []string{HashGF2, HashIdeal} }

// Keys is the number of keys that dim coordinates and sparsity dummies take.
func (l Layout) Keys(dim, sparsity int) int {
	if l == Paired {
		return dim + sparsity
	}
	return 2 * (dim + sparsity)
}

// NewChances returns the probabilities of a family over t slots for a number of
// keys. It checks the number of slots. O(1).
func NewChances(name string, layout Layout, keys, slots int) (Chances, error) {
	switch {
	case slots < 2 || int64(slots) > MaxSlots:
		return nil, fl.Invalid("slots", slots, "must be in [2, %d]", int64(MaxSlots))
	case layout == Paired && slots%2 != 0:
		return nil, fl.Invalid("slots", slots, "must be even")
	case name == HashIdeal:
		return idealChances{layout: layout, slots: float64(slots)}, nil
	case name != HashGF2:
		return nil, fl.Invalid("hash", name, "must be one of %q", HashFamilies())
	case slots&(slots-1) != 0:
		return nil, fl.Invalid("slots", slots, "must be a power of two for hash %q", HashGF2)
	}
	m, k := gf2.BitsFor(keys), cellBits(layout, slots)
	if m > gf2.MaxBits || k > m {
		return nil, fl.Invalid("slots", slots, "must be at most %d for hash %q with %d keys, and there may be 2^%d keys at most", layout.slotsOf(m), HashGF2, keys, gf2.MaxBits)
	}
	return gf2Chances{layout: layout, labels: math.Exp2(float64(m)), perCell: math.Exp2(float64(m - k))}, nil
}

// SlotChoices returns the smallest number of slots that is at least low, and how
// to go on from it: by adding step, or by doubling when step is 0, up to high.
func SlotChoices(name string, layout Layout, keys, low int) (first, step, high int) {
	step = 1
	if layout == Paired {
		low, step = low+low%2, 2
	}
	if name != HashGF2 {
		return max(low, 2), step, MaxSlots
	}
	for first = 2; first < low; first *= 2 {
	}
	return first, 0, layout.slotsOf(gf2.BitsFor(keys))
}

// cellBits is the logarithm of the number of cells.
func cellBits(layout Layout, slots int) int {
	k := bits.Len(uint(slots)) - 1
	if layout == Paired {
		k--
	}
	return k
}

// slotsOf is the number of slots of 2^bits cells.
func (l Layout) slotsOf(bits int) int {
	if l == Paired {
		bits++
	}
	return 1 << min(bits, 31)
}

// idealChances: slots are independent and uniform.
type idealChances struct {
	layout Layout
	slots  float64
}

func (c idealChances) Together() float64 {
	if c.layout == Paired {
		return 2 / c.slots
	}
	return 1 / c.slots
}

// Overwritten is 1 − (1/s) Σ_{r<s} (1−p)^r, p = Together, a geometric sum.
func (c idealChances) Overwritten(s int) float64 {
	n, p := float64(s), c.Together()
	if p == 1 {
		return 1 - 1/n
	}
	return 1 + math.Expm1(n*math.Log1p(-p))/(n*p)
}

func (c idealChances) FalseHit(int, float64) float64 { return 1 / c.slots }

func (c idealChances) FalsePair(int, float64) float64 {
	if c.layout == Paired {
		return 0
	}
	return 1 / (c.slots * c.slots)
}

// gf2Chances: see the package documentation.
type gf2Chances struct {
	layout  Layout
	labels  float64 // 2^m
	perCell float64 // 2^(m−k)
}

func (c gf2Chances) Together() float64 { return (c.perCell - 1) / (c.labels - 1) }

// Overwritten sums over the number r of later keys the probability that none of
// them shares the cell, one more factor for each.
func (c gf2Chances) Overwritten(s int) float64 {
	free, sum := 1.0, 0.0
	for i := range s {
		sum += free
		rest := c.labels - 1 - float64(i)
		free *= max(0, rest-(c.perCell-1)) / max(rest, 1)
	}
	return 1 - sum/float64(s)
}

func (c gf2Chances) FalseHit(s int, own float64) float64 {
	foreign := c.labels - float64(s)
	hit := (c.perCell - float64(s)*own) / foreign
	if c.layout == Paired {
		return hit / 2
	}
	return hit
}

func (c gf2Chances) FalsePair(s int, own float64) float64 {
	if c.layout == Paired {
		return 0
	}
	n, foreign := float64(s), c.labels-float64(s)
	together := c.Together()
	mean := n * own                       // of the number O of own keys in the cell
	square := mean + n*(n-1)*own*together // E[O²]
	full := c.perCell                     // labels of a cell
	ordered := full*(full-1) - (2*full-1)*mean + square
	return ordered / (foreign * (foreign - 1))
}
