package hetero

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Local is the baseline without a trusted server: every user randomizes the own
// bits, each of which flips with a probability of its own, and the reports are
// averaged. It is immutable and safe for concurrent use.
type Local struct {
	weights    Weights
	flips      []coin
	categories int // 1 for a mean
}

// NewLocal prepares weighted averages of local reports for k categories, or for
// numbers in [0, 1] if k is 1. Replacing a category changes two bits, so that each
// flips with probability 1/(1+e^(ε/2)): k-RAPPOR (paper, Appendix L). A number is
// rounded at random to one bit, which flips with probability 1/(1+e^ε). The flip
// probabilities are rounded up, to 2^−64 for public data. O(n).
func NewLocal(eps []float64, w Weights, categories int) (*Local, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := w.check(len(eps)); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := checkCategoryCount(categories, 1); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	l := &Local{weights: append(Weights(nil), w...), flips: make([]coin, len(eps)), categories: categories}
	for i, e := range eps {
		l.flips[i] = coinAbove(1 / (1 + math.Exp(e/float64(min(categories, 2)))))
	}
	return l, nil
}

// Mean returns the weighted average of the randomized values in [0, 1], clamped
// to [0, 1] and unbiased before that. O(n).
func (l *Local) Mean(values []float64, rng *rand.Rand) (float64, error) {
	if l.categories != 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("categories", l.categories, "must be 1 for a mean"))
	}
	if err := checkReals(values, len(l.flips)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	sum := 0.
	for i, x := range values {
		sum += l.weights[i] * l.report(i, rng.Float64() < x, rng)
	}
	return clamp(sum), nil
}

// Histogram returns the weighted averages of the users' randomized bits, one bit
// per category, clamped to [0, 1] and unbiased before that. O(n·k).
func (l *Local) Histogram(values []int, rng *rand.Rand) ([]float64, error) {
	if err := checkCategoryCount(l.categories, 2); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := checkCategories(values, len(l.flips), l.categories); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	frequencies := make([]float64, l.categories)
	for i, category := range values {
		for j := range frequencies {
			frequencies[j] += l.weights[i] * l.report(i, j == category, rng)
		}
	}
	for j, f := range frequencies {
		frequencies[j] = clamp(f)
	}
	return frequencies, nil
}

// report flips the bit of user i, or not, and divides its distance from 1/2 by
// 1 − 2·P[flip], which is tanh(ε/4) or tanh(ε/2) up to rounding. The difference
// is taken in integers.
func (l *Local) report(i int, bit bool, rng *rand.Rand) float64 {
	unbias := math.Ldexp(float64(1<<63-uint64(l.flips[i])), -63)
	if bit != l.flips[i].flip(rng) {
		return 0.5 + 0.5/unbias
	}
	return 0.5 - 0.5/unbias
}
