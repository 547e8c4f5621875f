package collision

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name. The mechanism is an fl.SparseMechanism and its
// aggregators are fl.SparseAggregators.
const Name = "collision"

func init() {
	fl.Register(Name, sparse.Slotted{
		Layout:     slothash.Separate,
		MinSlots:   minSlots,
		Calibrate:  calibrate,
		NewSampler: func(w exact.Weights, sparsity, slots int) sparse.Sampler { return newSampler(w, sparsity, slots) },
		MSE:        MSE,
		BestSlots:  BestSlots,
	})
}
