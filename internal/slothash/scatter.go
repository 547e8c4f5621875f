package slothash

// scatter adds ±1 at random places. Where the sums are too many for a processor's own cache,
// places of one region are collected and applied together: an addition then costs two accesses
// near the core instead of one to memory.
type scatter struct {
	*sums
	pending [][]uint32 // by region: places as add has them
}

const (
	regionQueue = 2048 // additions collected per region
	directBits  = 18   // sums up to that many are added to directly
)

func newScatter(n int) *scatter {
	s := &scatter{sums: newSums(n)}
	if n > 1<<directBits {
		s.pending = make([][]uint32, (n-1)>>regionBits+1)
	}
	return s
}

// add adds ±1 at places ⊕ shift. The lowest bit of each is 1 for −1, and the others are the number
// of the place.
func (s *scatter) add(places []uint32, shift uint32) {
	if s.pending != nil {
		s.collect(places, shift)
		return
	}
	low := s.low
	for _, at := range places {
		at ^= shift
		sum := low[at>>1] + 1 - 2*int16(at&1)
		low[at>>1] = sum
		if full(sum) < 0 {
			s.spillFull(at >> 1)
		}
	}
}

// collect is add for later.
func (s *scatter) collect(places []uint32, shift uint32) {
	for _, at := range places {
		at ^= shift
		region := at >> (1 + regionBits)
		queue := append(s.pending[region], at)
		s.pending[region] = queue
		if len(queue) == regionQueue {
			s.apply(region)
		}
	}
}

// apply adds what was collected for a region.
func (s *scatter) apply(region uint32) {
	low := s.low
	for _, at := range s.pending[region] {
		sum := low[at>>1] + 1 - 2*int16(at&1)
		low[at>>1] = sum
		if full(sum) < 0 {
			s.spillFull(at >> 1)
		}
	}
	s.pending[region] = s.pending[region][:0]
}

// settle adds everything that was collected.
func (s *scatter) settle() {
	for region := range s.pending {
		s.apply(uint32(region))
	}
}
