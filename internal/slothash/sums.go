package slothash

import "github.com/hushgrad/hushgrad/internal/parallel"

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
	s.widened(place >> regionBits)[place&(1<<regionBits-1)] += v
}

// widened returns the 4 bytes of each sum of a region.
func (s *sums) widened(region uint32) []int32 {
	if s.wide[region] == nil {
		s.wide[region] = make([]int32, min(1<<regionBits, len(s.low)))
	}
	return s.wide[region]
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
	for region, wide := range o.wide {
		for i, v := range wide {
			if v != 0 {
				s.widen(uint32(region<<regionBits|i), v)
			}
		}
	}
	for place, v := range o.low {
		sum := s.low[place] + v // two that are not full
		s.low[place] = sum
		if full(sum) < 0 {
			s.spillFull(uint32(place))
		}
	}
}

// addTo adds the sums, times 2^shift, to out.
func (s *sums) addTo(out []int64, shift int) {
	parallel.Ranges(len(s.low), func(from, to int) {
		for place := from; place < to; place++ {
			out[place] += int64(s.low[place]) << shift
		}
	})
	for region, wide := range s.wide {
		for i, v := range wide {
			out[region<<regionBits|i] += int64(v) << shift
		}
	}
}

// magnitude is at least the sum of the magnitudes.
func (s *sums) magnitude() (sum int64) {
	for _, v := range s.low {
		sum += max(int64(v), -int64(v))
	}
	for _, wide := range s.wide {
		for _, v := range wide {
			sum += max(int64(v), -int64(v))
		}
	}
	return sum
}
