package sparse

import (
	"unsafe"

	"github.com/hushgrad/hushgrad/internal/parallel"
)

// sums are the integers in which a tally keeps what it counted. Each has 1 or 2 bytes for as long as
// it stays small, which keeps more of them near the processor. What goes beyond is moved to 4
// bytes each, which a region of neighbours gets when the first of them needs it.
type sums[N short] struct {
	low  []N
	wide [][]int32 // by region, nil for most
}

// short is the type of a small sum.
type short interface{ int8 | int16 }

const regionBits = 16 // 2^16 sums of 4 bytes: 256 KiB

func newSums[N short](n int) *sums[N] {
	return &sums[N]{low: make([]N, n), wide: make([][]int32, (n-1)>>regionBits+1)}
}

// limit is half of what an N holds. A sum of limit or more, or below −limit, is full: it is moved from
// low to wide.
func limit[N short]() N { return 1 << (8*unsafe.Sizeof(N(0)) - 2) }

// full is negative for a full sum. Who adds ±1 to a sum of low calls spillFull then.
func full[N short](sum N) N { return sum + limit[N]() }

// spillFull moves what is at a place when it is full. That is once in limit additions, or seldomer.
//
//go:noinline
func (s *sums[N]) spillFull(place uint32) {
	if v := s.low[place]; full(v) < 0 {
		s.low[place] = 0
		s.widen(place, int32(v))
	}
}

func (s *sums[N]) widen(place uint32, v int32) {
	s.widened(place >> regionBits)[place&(1<<regionBits-1)] += v
}

// widened returns the 4 bytes of each sum of a region.
func (s *sums[N]) widened(region uint32) []int32 {
	if s.wide[region] == nil {
		s.wide[region] = make([]int32, min(1<<regionBits, len(s.low)))
	}
	return s.wide[region]
}

// at returns the sum at a place.
func (s *sums[N]) at(place uint32) int32 {
	v := int32(s.low[place])
	if wide := s.wide[place>>regionBits]; wide != nil {
		v += wide[place&(1<<regionBits-1)]
	}
	return v
}

// put adds any number to the sum at a place. The sum itself fits.
func (s *sums[N]) put(place uint32, v int32) {
	v += int32(s.low[place])
	if low := N(v); int32(low) == v && full(low) >= 0 {
		s.low[place] = low
		return
	}
	s.low[place] = 0
	s.widen(place, v)
}

// visit replaces the sum at a place by f of it.
func (s *sums[N]) visit(place uint32, f func(int32) int32) {
	v := s.at(place)
	if next := f(v); next != v {
		s.put(place, next-v)
	}
}

// merge adds the sums of o, which has as many sums as s.
func (s *sums[N]) merge(o *sums[N]) {
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
func (s *sums[N]) addTo(out []int64, shift int) {
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
func (s *sums[N]) magnitude() (sum int64) {
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
