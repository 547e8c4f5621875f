package coco

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "coco"

// Scheme is CoCo at all its parameters: exact errors, the best number of slots, and the
// factory that is registered under Name. Its mechanisms are fl.SparseMechanisms and
// fl.KeyValueMechanisms.
var Scheme = sparse.NewScheme(sparse.Definition{
	Name:       Name,
	Layout:     sparse.Paired,
	MinSlots:   minSlots,
	Likely:     func(s int) int { return s },
	Calibrate:  calibrate,
	NewSampler: func(w exact.Weights, sparsity, slots int) sparse.Sampler { return newSampler(w, sparsity, slots) },
})

func init() { fl.Register(Name, Scheme) }

// minSlots is the smallest allowed number of slots. The paper asks for 2s+2;
// 2s is private as well (see the package comment).
func minSlots(sparsity int) int { return 2 * sparsity }

// calibrate returns the exact hit probabilities (paper, Lemma 3) for weights
// high and low of the two slots of a marked pair and total weight Ω.
//
// An item survives unless a later one of the client's items falls into its pair. With
// random order the number r of later items is uniform on 0 … s−1. The pair of an
// overwritten item is marked by another item. A fair coin decides which half is marked.
func calibrate(chances sparse.Chances, p sparse.Point, high, low, total float64) sparse.Calibration {
	overwritten, pair := chances.Overwritten(p.Sparsity), (high+low)/total
	either := overwritten * pair / 2
	out := chances.FalseHit(p.Sparsity, pair)
	return sparse.Calibration{
		In: sparse.Joint{
			Own:      either + (1-overwritten)*high/total,
			Opposite: either + (1-overwritten)*low/total,
		},
		Out: sparse.Joint{Own: out, Opposite: out},
	}
}
