package sparse

// scatter adds ±1 at random places. Its sums have one byte each, so that more of them are near the
// processor. A sum goes up and down at random, and seldom leaves the byte. Where the sums are few, they
// have 4 bytes from the start: an addition then need not look whether its sum is full.
type scatter struct {
	*sums[int8]
	direct []int32 // all sums, where they are few
}

func newScatter(n int) *scatter {
	s := &scatter{sums: newSums[int8](n)}
	if len(s.wide) == 1 {
		s.direct = s.widened(0)
	}
	return s
}

// add adds ±1 at places ⊕ shift. The lowest bit of each is 1 for −1, and the others are the number
// of the place.
func (s *scatter) add(places []uint32, shift uint32) {
	if direct := s.direct; direct != nil {
		for _, at := range places {
			at ^= shift
			direct[at>>1] += 1 - 2*int32(at&1)
		}
		return
	}
	low := s.low
	for _, at := range places {
		at ^= shift
		sum := low[at>>1] + 1 - 2*int8(at&1)
		low[at>>1] = sum
		if full(sum) < 0 {
			s.spillFull(at >> 1)
		}
	}
}
