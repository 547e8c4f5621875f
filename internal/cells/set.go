// Package cells holds the set of hash cells that one client's items fall into. Use it in a
// randomizer that draws a cell inside or outside of that set. Start with [NewSet].
package cells

import "math/bits"

// Set is a small set of distinct cells out of [0, n). It is made for one
// capacity and reused; after that nothing allocates. Not safe for concurrent use.
type Set struct {
	n       uint32
	members []uint32
	slots   []uint32 // open addressing: index into members + 1, 0 when free
	mask    uint32
}

// NewSet returns an empty set of at most capacity cells out of [0, n).
func NewSet(n uint32, capacity int) *Set {
	size := uint32(1) << bits.Len(uint(2*capacity))
	return &Set{n: n, members: make([]uint32, 0, capacity), slots: make([]uint32, size), mask: size - 1}
}

// Reset empties the set, in O(capacity).
func (s *Set) Reset() {
	s.members = s.members[:0]
	clear(s.slots)
}

// Len is the number of cells in the set.
func (s *Set) Len() int { return len(s.members) }

// Add puts a cell into the set and returns its position among the members, in
// order of arrival, and whether it is new. O(1) expected.
func (s *Set) Add(cell uint32) (position int, fresh bool) {
	i := s.find(cell)
	if p := s.slots[i]; p != 0 {
		return int(p - 1), false
	}
	s.members = append(s.members, cell)
	s.slots[i] = uint32(len(s.members))
	return len(s.members) - 1, true
}

// Outside maps the ranks 0 … n−Len()−1 one to one onto the cells that are not
// in the set, in O(Len()).
//
// A rank that is not a member stands for itself. There are as many members below
// n−Len() as there are non-members from n−Len() on. The two are matched in order of
// arrival.
func (s *Set) Outside(rank uint32) uint32 {
	i := s.find(rank)
	if s.slots[i] == 0 {
		return rank
	}
	border := s.n - uint32(len(s.members))
	before := 0
	for _, m := range s.members[:s.slots[i]-1] {
		if m < border {
			before++
		}
	}
	cell := border
	for ; ; cell++ {
		if s.slots[s.find(cell)] != 0 {
			continue
		}
		if before == 0 {
			return cell
		}
		before--
	}
}

// find returns the place of a cell in the table, or the free place for it.
func (s *Set) find(cell uint32) uint32 {
	// Fibonacci hashing spreads neighbouring cells; the table is at most half full.
	for i := cell * 0x9E3779B1 >> 7 & s.mask; ; i = (i + 1) & s.mask {
		if p := s.slots[i]; p == 0 || s.members[p-1] == cell {
			return i
		}
	}
}
