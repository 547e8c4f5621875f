package gkmps

import (
	"math/bits"
)

// An atom is named by its index i, 1 <= |i| and i != -1: atom 1 is {+1, −1},
// every other one {i, −⌈i/2⌉, −⌊i/2⌋}. The messages of an atom sum to 0, so that
// flooding with it leaves the sum of all messages as it is.

// messages appends what one copy of atom i adds to the shuffled messages.
func messages(dst []int64, i int64) []int64 {
	if i == 1 {
		return append(dst, 1, -1)
	}
	down := i >> 1 // ⌊i/2⌋, also for i < 0
	return append(dst, i, down-i, -down)
}

// allAtoms returns the indices of the 2U−1 atoms with messages in ±1 … ±U.
func allAtoms(bound int64) []int64 { return atoms(bound, bound) }

// usedAtoms returns the indices of the atoms that the right inverse of an input
// in {0..U} uses: all positive ones and the negative ones down to −⌈U/2⌉. The
// halves of a negative input would use the others, and there are none.
func usedAtoms(bound int64) []int64 { return atoms(bound, (bound+1)/2) }

// atoms lists 1, 2 … up and −2 … −down.
func atoms(up, down int64) []int64 {
	list := make([]int64, 0, up+down)
	for i := int64(1); i <= up; i++ {
		list = append(list, i)
	}
	for i := int64(2); i <= down; i++ {
		list = append(list, -i)
	}
	return list
}

// A term is one entry of a column of the right inverse C.
type term struct {
	atom  int64
	count int64
}

// column appends the entries of the column c_x of C, x != 0: the numbers of
// atoms whose messages other than +1 add up to the single message x. They
// follow from
//
//	c_1 = 0,  c_{−1} = {atom 1},  c_i = {atom i} − c_{−⌈i/2⌉} − c_{−⌊i/2⌋}.
//
// The message +1 has no row: its number follows from the sum of all messages.
// All values of one level of this recursion are equal or neighbours and have the
// same sign, so O(log |x|).
func column(dst []term, x int64) []term {
	value, sign := magnitude(x), int64(1)
	positive := x > 0
	low, high := int64(1), int64(0) // how often value and value+1 occur
	for low+high > 0 {
		for i, n := range [2]int64{low, high} {
			if v := value + int64(i); n > 0 && (v > 1 || !positive) {
				atom := v
				if v > 1 && !positive {
					atom = -v
				}
				dst = append(dst, term{atom: atom, count: sign * n})
			}
		}
		switch { // v has the halves ⌊v/2⌋ and ⌈v/2⌉, unless it is 1
		case value == 1:
			low, high = 2*high, 0
		case value%2 == 0:
			low, value = 2*low+high, value/2
		default:
			high, value = low+2*high, value/2
		}
		sign, positive = -sign, !positive
	}
	return dst
}

// ceilLog2 returns ⌈log2 v⌉ for v >= 1.
func ceilLog2(v int64) int64 { return int64(bits.Len64(uint64(v - 1))) }

// dominance returns Γ = U(⌈log2 U⌉+1), a bound on Σ_s |C_{s,x}|·|s| for all x in
// {0..U} (package comment).
func dominance(bound int64) int64 { return bound * (ceilLog2(bound) + 1) }

// magnitude returns |i|.
func magnitude(i int64) int64 { return max(i, -i) }
