package mechanisms

import (
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/sparse"
)

func init() {
	fl.Register("example-sparse", sparse.NewScheme(sparse.Definition{
		Name:     "example-sparse",
		Layout:   sparse.Separate, // every coordinate with a sign has a slot of its own
		MinSlots: func(s int) int { return s + 1 },
		Likely:   func(s int) int { return s },
		// Calibrate says how often an item is hit: one of the client's own, and any other.
		Calibrate: func(chances sparse.Chances, p sparse.Point, high, _, total float64) sparse.Calibration {
			hit := high / total
			miss := chances.FalseHit(p.Sparsity, hit)
			return sparse.Calibration{
				In:  sparse.Joint{Own: hit, Opposite: miss, Both: hit * chances.Together()},
				Out: sparse.Joint{Own: miss, Opposite: miss, Both: chances.FalsePair(p.Sparsity, hit)},
			}
		},
		NewSampler: func(w exact.Weights, _, slots int) sparse.Sampler { return sampler{w, uint64(slots)} },
	}))
}

// sampler reports a slot: each slot of the client's items has the weight High, and the others share the rest.
type sampler struct {
	weights exact.Weights
	slots   uint64
}

// Slot implements sparse.Sampler. O(s log s).
func (s sampler) Slot(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) uint32 {
	var own []uint32
	for i, j := range x.Index {
		own = append(own, sparse.Separate.Item(f, j, x.Sign[i]))
	}
	slices.Sort(own)
	own = slices.Compact(own) // items may share a slot
	n := uint64(len(own))
	if choose.Weighted([]uint64{n * s.weights.High, s.weights.Total - n*s.weights.High}) == 0 {
		return own[choose.Uniform(n)]
	}
	slot := uint32(choose.Uniform(s.slots - n)) // among the others, in order
	for _, o := range own {
		if slot >= o {
			slot++
		}
	}
	return slot
}
