package signsketch

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// sampler is randomized response on the majority. The two slots of the only pair
// are the two answers; an item votes for its slot.
type sampler struct{ answer [2]uint64 }

func newSampler(w exact.Weights) *sampler { return &sampler{answer: [2]uint64{w.High, w.Low}} }

// Slot implements sparse.Sampler. O(s).
func (s *sampler) Slot(x fl.Ternary, f slothash.Func, choose exact.Chooser) uint32 {
	votes := 0 // for slot 1, times two
	for i, j := range x.Index {
		votes += 2 * int(slothash.Paired.Item(f, j, x.Sign[i]))
	}
	majority := uint32(0)
	switch {
	case votes > len(x.Index):
		majority = 1
	case votes == len(x.Index):
		majority = uint32(choose.Uniform(2))
	}
	return majority ^ uint32(choose.Weighted(s.answer[:]))
}
