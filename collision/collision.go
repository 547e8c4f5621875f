package collision

import (
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "collision"

// Scheme is Collision at all its parameters: exact errors, the best number of slots, and the
// factory that is registered under Name. Its mechanisms are fl.SparseMechanisms and
// fl.KeyValueMechanisms.
var Scheme = sparse.NewScheme(sparse.Definition{
	Name:       Name,
	Layout:     sparse.Separate,
	MinSlots:   minSlots,
	Likely:     func(s int) int { return s },
	Calibrate:  calibrate,
	NewSampler: func(w exact.Weights, sparsity, slots int) sparse.Sampler { return newSampler(w, sparsity, slots) },
})

func init() { fl.Register(Name, Scheme) }

// minSlots is the smallest allowed number of slots: t > s.
func minSlots(sparsity int) int { return sparsity + 1 }

// calibrate returns the exact hit probabilities for the weight high of an own
// slot and the total weight Ω. The two items of a coordinate can be hit together:
// they may fall into the same slot.
func calibrate(chances sparse.Chances, p sparse.Point, high, _, total float64) sparse.Calibration {
	hit := high / total
	miss := chances.FalseHit(p.Sparsity, hit)
	return sparse.Calibration{
		In:  sparse.Joint{Own: hit, Opposite: miss, Both: hit * chances.Together()},
		Out: sparse.Joint{Own: miss, Opposite: miss, Both: chances.FalsePair(p.Sparsity, hit)},
	}
}
