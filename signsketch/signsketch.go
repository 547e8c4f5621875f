package signsketch

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "signsketch"

// Scheme is SignSketch at all its parameters: exact errors, and the factory that is
// registered under Name. The round's only parameter is sparsity, and the mean is all that
// is estimated. Its mechanisms are fl.SparseMechanisms.
var Scheme = sparse.NewScheme(sparse.Definition{
	Name:   Name,
	Layout: slothash.Paired,
	Slots:  slots,
	// Randomized response is a choice of one of two slots, one of them likely.
	Likely:     func(int) int { return 1 },
	MinKeys:    minKeys,
	Calibrate:  calibrate,
	NewSampler: func(w exact.Weights, _, _ int) sparse.Sampler { return newSampler(w) },
})

func init() { fl.Register(Name, Scheme) }

// slots: a report is one bit.
const slots = 2

// labelsPerEntry makes the aliasing error of one round less than 1 % (see the
// package comment).
const labelsPerEntry = 5700

// minKeys is the number of labels that a sparsity asks for.
func minKeys(sparsity int) int { return labelsPerEntry * sparsity }

// calibrate returns the exact hit probabilities: an own item's slot is reported if
// it agrees with the majority and the answer is true, or neither.
func calibrate(_ slothash.Chances, p sparse.Point, high, _, total float64) sparse.Calibration {
	m := gf2.BitsFor(max(p.Dim+p.Sparsity, minKeys(p.Sparsity)))
	truth := 2*high/total - 1
	own := (1 + truth*agreement(p.Sparsity, m)) / 2
	return sparse.Calibration{
		In:  sparse.Joint{Own: own, Opposite: 1 - own},
		Out: sparse.Joint{Own: 0.5, Opposite: 0.5},
	}
}

// agreement is ρ: the probability that a fixed one of s balanced signs, drawn
// without replacement from 2^m, agrees with their majority, minus that it does not.
//
// Given the fixed sign, a of the other s−1 have the same one, hypergeometric with
// 2^(m−1)−1 successes among 2^m − 1. It agrees if 2(a+1) > s, does not if
// 2(a+1) < s, and a tie gives 0. The probabilities are summed outwards from the
// middle by their ratios and divided by their sum. O(s).
func agreement(s, m int) float64 {
	same, other := math.Exp2(float64(m-1))-1, math.Exp2(float64(m-1))
	rho, sum := 0.0, 0.0
	count := func(a int, p float64) {
		sum += p
		switch {
		case 2*(a+1) > s:
			rho += p
		case 2*(a+1) < s:
			rho -= p
		}
	}
	// ratio is P[a+1]/P[a].
	ratio := func(a int) float64 {
		k, rest := float64(a), float64(s-1-a)
		return (same - k) * rest / ((k + 1) * (other - rest + 1))
	}
	middle := (s - 1) / 2
	count(middle, 1)
	for a, p := middle, 1.0; a < s-1; a++ {
		p *= ratio(a)
		count(a+1, p)
	}
	for a, p := middle, 1.0; a > 0; a-- {
		p /= ratio(a - 1)
		count(a-1, p)
	}
	return rho / sum
}

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
