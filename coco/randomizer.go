package coco

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/cells"
	"github.com/hushgrad/hushgrad/sparse"
)

// sampler draws slots as in Algorithm 1 of the paper, in O(s) instead of O(t).
type sampler struct {
	weights exact.Weights
	slots   uint32

	pairs   *cells.Set // marked pairs
	marked  []uint32   // the slot of weight e^ε in each marked pair
	claims  []uint64   // number of items that fell into each marked pair
	classes [3]uint64
}

// The three classes of slots, in the order of sampler.classes.
const (
	markedSlots = iota
	partnerSlots
	otherSlots
)

func newSampler(w exact.Weights, sparsity, slots int) *sampler {
	return &sampler{
		weights: w,
		slots:   uint32(slots),
		pairs:   cells.NewSet(uint32(slots/2), sparsity),
		marked:  make([]uint32, sparsity),
		claims:  make([]uint64, sparsity),
	}
}

// Slot implements sparse.Sampler. O(s) expected.
func (s *sampler) Slot(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) uint32 {
	s.mark(x, f, choose)
	p := uint64(s.pairs.Len())
	s.classes = [3]uint64{
		markedSlots:  p * s.weights.High,
		partnerSlots: p * s.weights.Low,
		otherSlots:   s.weights.Total - p*(s.weights.High+s.weights.Low),
	}
	switch choose.Weighted(s.classes[:]) {
	case markedSlots:
		return s.marked[choose.Uniform(p)]
	case partnerSlots:
		return s.marked[choose.Uniform(p)] ^ 1
	default:
		rank := uint32(choose.Uniform(uint64(s.slots) - 2*p))
		return s.pairs.Outside(rank/2)<<1 | rank&1
	}
}

// mark finds the marked pairs and the winner of each. Letting the k-th claim on
// a pair win with probability 1/k makes every claim the winner with the same
// probability, as processing the items in random order does.
func (s *sampler) mark(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) {
	s.pairs.Reset()
	for i, j := range x.Index {
		slot := sparse.Paired.Item(f, j, x.Sign[i])
		at, fresh := s.pairs.Add(slot >> 1)
		if fresh {
			s.marked[at], s.claims[at] = slot, 1
			continue
		}
		s.claims[at]++
		if choose.Uniform(s.claims[at]) == 0 {
			s.marked[at] = slot
		}
	}
}
