package slothash

import "github.com/hushgrad/hushgrad/fl"

// Family is a set of hash functions from keys to slots, one for every seed. It
// is immutable and safe for concurrent use.
type Family interface {
	// Func returns an evaluator, bound to seed 0.
	Func() Func
	// NewTally returns empty counters for dim coordinates.
	NewTally(dim int) Tally
	// Collide is the probability that a fixed key falls into the same cell as
	// at least one of r other keys of the same client. Cells are pairs of slots
	// in the Paired layout and single slots otherwise.
	Collide(r int) float64
	// FalseHit is the probability that an item whose coordinate is not among the
	// client's s falls into the reported slot.
	FalseHit(s int) float64
}

// Func evaluates one function of the family at a time. It is not safe for
// concurrent use.
type Func interface {
	// Bind selects the function of a seed.
	Bind(seed uint32)
	// Slot returns the slot of a key, below the number of slots.
	Slot(key uint32) uint32
}

// Tally counts, for every coordinate and sign, the reports whose slot is the
// item's. Sums of integers: the result depends neither on the order of the
// reports nor on how they were split over tallies.
type Tally interface {
	// Add counts one report. slot is below the number of slots.
	Add(seed, slot uint32)
	// Merge adds the counts of a tally of the same family and dimension.
	Merge(other Tally) error
	// Counts returns the counts for + and − of every coordinate. The slices
	// belong to the tally and must not be changed.
	Counts() (plus, minus []int64)
	// SetCounts replaces the counts. Both slices have the tally's dimension.
	SetCounts(plus, minus []int64)
}

// Ideal is the name of the reference family.
const Ideal = "ideal"

// Families lists the names NewFamily knows.
func Families() []string { return []string{Ideal} }

// NewFamily returns the family with that name over t slots, keyed by the
// round's public randomness.
func NewFamily(name string, layout Layout, slots int, key [32]byte) (Family, error) {
	if slots < 2 || int64(slots) > MaxSlots {
		return nil, fl.Invalid("slots", slots, "must be in [2, %d]", int64(MaxSlots))
	}
	if layout == Paired && slots%2 != 0 {
		return nil, fl.Invalid("slots", slots, "must be even")
	}
	if name != Ideal {
		return nil, fl.Invalid("hash", name, "must be one of %q", Families())
	}
	return newIdeal(layout, slots, key), nil
}

// MaxSlots is the largest number of slots: a slot travels in at most 4 bytes.
const MaxSlots = 1 << 31
