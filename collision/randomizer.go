package collision

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/cells"
	"github.com/hushgrad/hushgrad/sparse"
)

// sampler draws slots as in Definition 5 of the paper, in O(s).
type sampler struct {
	weights exact.Weights
	slots   uint32

	own     *cells.Set // the slots of the client's items
	members []uint32   // the same, by order of arrival
	classes [2]uint64
}

// The two classes of slots, in the order of sampler.classes.
const (
	ownSlots = iota
	otherSlots
)

func newSampler(w exact.Weights, sparsity, slots int) *sampler {
	return &sampler{
		weights: w,
		slots:   uint32(slots),
		own:     cells.NewSet(uint32(slots), sparsity),
		members: make([]uint32, sparsity),
	}
}

// Slot implements sparse.Sampler. O(s) expected.
func (s *sampler) Slot(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) uint32 {
	s.own.Reset()
	for i, j := range x.Index {
		slot := sparse.Separate.Item(f, j, x.Sign[i])
		if at, fresh := s.own.Add(slot); fresh {
			s.members[at] = slot
		}
	}
	c := uint64(s.own.Len())
	s.classes = [2]uint64{
		ownSlots:   c * s.weights.High,
		otherSlots: s.weights.Total - c*s.weights.High,
	}
	if choose.Weighted(s.classes[:]) == ownSlots {
		return s.members[choose.Uniform(c)]
	}
	return s.own.Outside(uint32(choose.Uniform(uint64(s.slots) - c)))
}
