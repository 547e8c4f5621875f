package signsketch

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/gf2"
	"github.com/hushgrad/hushgrad/sparse"
)

// slots: a report is one bit.
const slots = 2

// labelsPerEntry makes the aliasing error of one round less than 1 % (see the
// package comment).
const labelsPerEntry = 5700

// minKeys is the number of labels that a sparsity asks for.
func minKeys(sparsity int) int { return labelsPerEntry * sparsity }

// calibrate returns the exact hit probabilities: an own item's slot is reported if
// it agrees with the majority and the answer is true, or neither.
func calibrate(dim, sparsity int, high, total float64) sparse.Calibration {
	m := gf2.BitsFor(max(dim+sparsity, minKeys(sparsity)))
	truth := 2*high/total - 1
	own := (1 + truth*agreement(sparsity, m)) / 2
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

// MSE is the exact squared error of the mean estimated from one report, summed
// over the dim coordinates, in squared ternary units. Divide by the number of
// reports and multiply by τ² for the error of a round. O(sparsity).
func MSE(dim, sparsity int, epsilon float64) (float64, error) {
	if err := check(dim, sparsity, epsilon); err != nil {
		return 0, err
	}
	e := math.Exp(epsilon)
	return calibrate(dim, sparsity, e, e+1).MeanMSE(dim, sparsity), nil
}

func check(dim, sparsity int, epsilon float64) error {
	if err := sparse.CheckShape(dim, sparsity); err != nil {
		return err
	}
	if !(epsilon > 0 && epsilon <= fl.MaxEpsilon) {
		return fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	}
	if keys := max(dim+sparsity, minKeys(sparsity)); gf2.BitsFor(keys) > gf2.MaxBits {
		return fl.Invalid(sparse.ParamSparsity, sparsity, "must leave at most 2^%d labels, %d are needed", gf2.MaxBits, keys)
	}
	return nil
}
