package gkmps

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
