package slothash

import (
	"errors"
	"iter"

	"github.com/hushgrad/hushgrad/fl"
)

// Family is a set of hash functions from keys to slots, one for every seed. It
// is immutable and safe for concurrent use.
type Family interface {
	Chances
	// Func returns an evaluator, bound to seed 0.
	Func() Func
	// NewTally returns empty counters.
	NewTally() Tally
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
	// Add counts one report. slot is below the number of slots, and a tally
	// counts at most MaxReports reports.
	Add(seed, slot uint32)
	// Merge adds the counts of a tally of the same family.
	Merge(other Tally) error
	// Counts returns the counts for + and − of every coordinate.
	Counts() (plus, minus []int32)
	// Integers is the number of integers behind the counts.
	Integers() int
	// State yields them, to store them. The tally must not change meanwhile.
	State() iter.Seq[int32]
	// SetState sets them in an empty tally to what next returns, in the order of State.
	SetState(next func() int32)
}

var errOtherRound = errors.New("slothash: merge: the tallies belong to different rounds")

const (
	// MaxSlots is the largest number of slots: a slot travels in at most 4 bytes.
	MaxSlots = 1 << 31
	// MaxReports is the largest number of reports of a tally: its counters are
	// int32, and a report changes a counter by at most 1.
	MaxReports = 1<<31 - 1
)

// Shape is what a family is made for.
type Shape struct {
	Layout   Layout
	Dim      int // coordinates
	Sparsity int // entries of a client's vector, dummies included
	Slots    int
	// MinKeys asks the linear family for labels as if there were at least this
	// many keys.
	MinKeys int
}

// keys is the number of keys that labels are made for.
func (s Shape) keys() int { return max(s.Layout.Keys(s.Dim, s.Sparsity), s.MinKeys) }

// NewFamily returns the family with that name, keyed by the round's public
// randomness. O(√d) for the linear family, O(1) for the ideal one.
func NewFamily(name string, shape Shape, key [32]byte) (Family, error) {
	chances, err := NewChances(name, shape.Layout, shape.keys(), shape.Slots)
	if err != nil {
		return nil, err
	}
	switch name {
	case Ideal:
		return newIdeal(chances, shape, key), nil
	case GF2:
		return newLinear(chances, shape, key)
	}
	return nil, fl.Invalid("hash", name, "must be one of %q", Families())
}

// Layout says how an item (coordinate j, sign b) falls into a slot.
type Layout uint8

const (
	// Paired layouts hash the coordinate to a slot for +; the slot for − is the
	// other one of the pair {2i, 2i+1} (CoCo). The number of slots is even.
	Paired Layout = iota
	// Separate layouts hash (j, +) and (j, −) on their own (Collision).
	Separate
)

// Item returns the slot of (coordinate, sign) under f.
func (l Layout) Item(f Func, coordinate uint32, sign int8) uint32 {
	minus := uint32(0)
	if sign < 0 {
		minus = 1
	}
	if l == Paired {
		return f.Slot(coordinate) ^ minus
	}
	return f.Slot(2*coordinate + minus)
}
