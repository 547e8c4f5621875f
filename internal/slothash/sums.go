package slothash

// sums are the integers in which a tally keeps what it counted. Each has 2 bytes for as long as
// it stays small, which keeps more of them near the processor. What goes beyond is moved to 4
// bytes each, which a region of neighbours gets when the first of them needs it.
type sums struct {
	low  []int16
	wide [][]int32 // by region, nil for most
}

const (
	// spillBits: a sum of 2^spillBits or more in magnitude is moved from low to wide.
	spillBits  = 14
	regionBits = 16 // 2^16 sums of 2 bytes: 128 KiB, which fit a processor's own cache
)

func newSums(n int) *sums {
	return &sums{low: make([]int16, n), wide: make([][]int32, (n-1)>>regionBits+1)}
}

// full is negative for a sum that is at least 2^spillBits or below −2^spillBits. Who adds ±1 to a
// sum of low calls spillFull then.
func full(sum int16) int16 { return sum + 1<<spillBits }

// spillFull moves what is at a place when it is full. That is once in 2^14 additions.
//
//go:noinline
func (s *sums) spillFull(place uint32) {
	if v := s.low[place]; full(v) < 0 {
		s.low[place] = 0
		s.widen(place, int32(v))
	}
}

func (s *sums) widen(place uint32, v int32) {
	wide := &s.wide[place>>regionBits]
	if *wide == nil {
		*wide = make([]int32, min(1<<regionBits, len(s.low)))
	}
	(*wide)[place&(1<<regionBits-1)] += v
}

// at returns the sum at a place.
func (s *sums) at(place uint32) int32 {
	v := int32(s.low[place])
	if wide := s.wide[place>>regionBits]; wide != nil {
		v += wide[place&(1<<regionBits-1)]
	}
	return v
}

// put adds any number to the sum at a place. The sum itself fits.
func (s *sums) put(place uint32, v int32) {
	v += int32(s.low[place])
	if low := int16(v); int32(low) == v && full(low) >= 0 {
		s.low[place] = low
		return
	}
	s.low[place] = 0
	s.widen(place, v)
}

// merge adds the sums of o, of which there are as many.
func (s *sums) merge(o *sums) {
	for place := range uint32(len(s.low)) {
		if v := o.at(place); v != 0 {
			s.put(place, v)
		}
	}
}

// magnitude is the sum of the magnitudes.
func (s *sums) magnitude() (sum int64) {
	for place := range uint32(len(s.low)) {
		v := int64(s.at(place))
		sum += max(v, -v)
	}
	return sum
}
