package slothash

// scatter adds ±1 at random places. Where the sums are too many for a processor's own cache,
// places of one region are collected and applied together: an addition then costs two accesses
// near the core instead of one to memory. Where they are few, they have 4 bytes from the start: an
// addition then need not look whether its sum is full.
type scatter struct {
	*sums
	direct  []int32  // all sums, where they are few
	pending []uint32 // by region, regionQueue each: places as add has them
	waiting []uint32 // of each region, how many
}

const (
	regionQueue = 2048 // additions collected per region
	directBits  = 18   // sums up to that many are added to directly
)

func newScatter(n int) *scatter {
	s := &scatter{sums: newSums(n)}
	regions := len(s.wide)
	switch {
	case regions == 1:
		s.direct = s.widened(0)
	case n > 1<<directBits:
		s.pending, s.waiting = make([]uint32, regions*regionQueue), make([]uint32, regions)
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
	if s.pending != nil {
		s.collect(places, shift)
		return
	}
	s.apply(places, shift)
}

// apply adds to sums of 2 bytes.
func (s *scatter) apply(places []uint32, shift uint32) {
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
	pending, waiting := s.pending, s.waiting
	for _, at := range places {
		at ^= shift
		region := at >> (1 + regionBits)
		n := waiting[region]
		pending[region*regionQueue+n] = at
		n++
		waiting[region] = n
		if n == regionQueue {
			s.empty(region)
		}
	}
}

// empty adds what was collected for a region.
func (s *scatter) empty(region uint32) {
	s.apply(s.pending[region*regionQueue:][:s.waiting[region]], 0)
	s.waiting[region] = 0
}

// settle adds everything that was collected.
func (s *scatter) settle() {
	for region := range s.waiting {
		s.empty(uint32(region))
	}
}
