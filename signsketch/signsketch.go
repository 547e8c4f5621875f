package signsketch

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "signsketch"

// Scheme is SignSketch at all its parameters: exact errors, and the factory that is
// registered under Name. The round's only parameter is sparsity, and the mean is all that
// is estimated. Its mechanisms are fl.SparseMechanisms.
var Scheme = sparse.NewScheme(sparse.Definition{
	Name:   Name,
	Layout: sparse.Paired,
	Slots:  slots,
	// Randomized response is a choice of one of two slots, one of them likely.
	Likely:     func(int) int { return 1 },
	MinKeys:    minKeys,
	Calibrate:  calibrate,
	Aliasing:   aliasing,
	NewSampler: func(w exact.Weights, _, _ int) sparse.Sampler { return &sampler{answer: [2]uint64{w.High, w.Low}} },
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
func calibrate(_ sparse.Chances, p sparse.Point, high, _, total float64) sparse.Calibration {
	m := labelBits(p)
	truth := 2*high/total - 1
	own := (1 + truth*agreement(p.Sparsity, m)) / 2
	return sparse.Calibration{
		In:  sparse.Joint{Own: own, Opposite: 1 - own},
		Out: sparse.Joint{Own: 0.5, Opposite: 0.5},
	}
}

// labelBits is the number m of bits of a label.
func labelBits(p sparse.Point) int {
	return gf2.BitsFor(max(p.Dim+p.Sparsity, minKeys(p.Sparsity)))
}

// aliasing is the squared error per coordinate and per square of the mean that the labels of
// a round cause. As a function of c the majority of a client's s signs has the mean square
// q = 1 − P[tie]. Parseval: its 2^m Walsh coefficients have the squares q in all. Those at the
// labels of the client's own coordinates are ρ² each, s·ρ² in all. The rest, q − s·ρ², lies at
// labels that are sums of an odd number of the client's, three or more, and with random labels
// everywhere: (q − s·ρ²)/2^m at each on average. The estimator divides by ρ, so that a client
// adds (q − s·ρ²)/(ρ²·2^m) to the squared error of every coordinate.
//
// Of n clients, those errors add up as far as the vectors are alike. The correlation of the
// rests of two clients whose vectors have the scalar product κ·s is the correlation of products of three
// or more signs, (arcsin κ − κ)/(π/2 − 1) for many signs, at most κ for κ ≥ 0. Where no two
// clients' vectors point away from one another the squared error of the mean is thus at most
// the above times the mean of κ over all pairs of clients, which is the squared norm of the
// mean vector, divided by s.
func aliasing(p sparse.Point) float64 {
	m, s := labelBits(p), float64(p.Sparsity)
	square := agreement(p.Sparsity, m)
	square *= square
	return max(1-tie(p.Sparsity)-s*square, 0) / (square * s) / math.Exp2(float64(m))
}

// tie is the probability that s independent signs have no majority: C(s, s/2)/2^s for even s.
func tie(s int) float64 {
	if s%2 == 1 {
		return 0
	}
	p := 1.0
	for k := 1; k <= s/2; k++ {
		p *= 1 - 0.5/float64(k)
	}
	return p
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

// Slot implements sparse.Sampler. O(s).
func (s *sampler) Slot(x fl.Ternary, f sparse.HashFunc, choose exact.Chooser) uint32 {
	votes := 0 // for slot 1, times two
	for i, j := range x.Index {
		votes += 2 * int(sparse.Paired.Item(f, j, x.Sign[i]))
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
