package hetero

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Local is the baseline without a trusted server (paper, Appendix L): every client randomizes
// its own value, and the reports are averaged with the given weights. It is immutable and
// safe for concurrent use.
type Local struct {
	weights    Weights
	flips      []coin    // of a category's bits
	steps      []float64 // what a bit of 1 adds to ½·Σ w, and a bit of 0 takes away
	noises     []Noise   // of a number, one per client
	categories int       // 1 for a mean
}

// NewLocal prepares weighted averages of local reports for k categories, or for
// numbers in [0, 1] if k is 1. Replacing a category changes two bits, so that each
// flips with probability 1/(1+e^(ε/2)): k-RAPPOR. The flip probabilities are rounded up, to
// 2^−64 for public data. A number gets Laplace noise of scale 1/ε, by the same integers as
// [Mean]. O(n).
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
	l := &Local{weights: append(Weights(nil), w...), categories: categories}
	for i, e := range eps {
		if categories == 1 {
			l.noises = append(l.noises, newNoise([]float64{e}, Weights{1}, 1, defaultNoiseBits))
			continue
		}
		flip := coinAbove(1 / (1 + math.Exp(e/2)))
		// 1 − 2·P[flip] is tanh(ε/4) up to rounding. The difference is taken in integers.
		unbias := math.Ldexp(float64(1<<63-uint64(flip)), -63)
		l.flips, l.steps = append(l.flips, flip), append(l.steps, w[i]*0.5/unbias)
	}
	return l, nil
}

// Mean returns the weighted average of the noisy values, clamped to [0, 1] and unbiased
// before that. A nil rng is a fresh fl.NewRand. O(n).
func (l *Local) Mean(values []float64, rng *rand.Rand) (float64, error) {
	if l.categories != 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("categories", l.categories, "must be 1 for a mean"))
	}
	if err := checkReals(values, len(l.noises)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	sum := 0.
	for i, x := range values {
		n := &l.noises[i]
		sum += l.weights[i] * (float64(n.contribution(0, x)+n.draw(rng)) / float64(n.total))
	}
	return clamp(sum), nil
}

// Histogram returns the weighted averages of the clients' randomized bits, one bit
// per category, clamped to [0, 1] and unbiased before that. A nil rng is a fresh
// fl.NewRand. O(n·k).
func (l *Local) Histogram(values []int, rng *rand.Rand) ([]float64, error) {
	if err := checkCategoryCount(l.categories, 2); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := checkCategories(values, len(l.flips), l.categories); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	frequencies := make([]float64, l.categories)
	for i, category := range values {
		flip, step := l.flips[i], l.steps[i]
		for j := range frequencies {
			if (j == category) != flip.flip(rng) {
				frequencies[j] += step
			} else {
				frequencies[j] -= step
			}
		}
	}
	half := 0.5 * floats.Sum(l.weights)
	for j, f := range frequencies {
		frequencies[j] = clamp(half + f)
	}
	return frequencies, nil
}

// The bound of the ℓ∞ error of randomized bits has L·Σ c_i·w_i² with c_i = coth(ε_i/4)/ε_i
// for the noise (paper, Appendix L). The paper bounds the distance ‖w − 1/n‖₁² by
// n·‖w − 1/n‖₂² = n·‖w‖₂² − 1, which gives closed forms by Lagrange's rule.

// LocalCorrelated returns the weights of [Local] for a histogram that minimise
//
//	n·‖w − 1/n‖₂² + L·Σ c_i·w_i²,
//
// which are proportional to 1/(n + L·c_i). See [PACFactor] and [MSEFactor] for l in [0, 1e9].
// For a mean the paper takes the weights of [Correlated]. O(n).
func LocalCorrelated(eps []float64, l float64) (Weights, error) {
	if err := checkOptimal(eps, "l", l, maxFactor); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return localWeights(eps, float64(len(eps)), l), nil
}

// LocalUncorrelated returns the weights of [Local] for a histogram that minimise
//
//	min(n·‖w − 1/n‖₂², L·‖w‖₂²) + L·Σ c_i·w_i²:
//
// the weights of [LocalCorrelated], or weights proportional to 1/(1 + c_i) where these are better.
// For a mean the paper takes the weights of [Uncorrelated]. O(n).
func LocalUncorrelated(eps []float64, l float64) (Weights, error) {
	if err := checkOptimal(eps, "l", l, maxFactor); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	n := float64(len(eps))
	risk := func(w Weights) float64 {
		square, noise := 0., 0.
		for i, x := range w {
			square += x * x
			noise += localSpread(eps[i]) * x * x
		}
		return min(n*square-1, l*square) + l*noise
	}
	biased, spread := localWeights(eps, n, l), localWeights(eps, 1, 1)
	if risk(biased) <= risk(spread) {
		return biased, nil
	}
	return spread, nil
}

// localWeights are proportional to 1/(a + l·c).
func localWeights(eps []float64, a, l float64) Weights {
	return proportional(eps, func(e float64) float64 { return 1 / (a + l*localSpread(e)) })
}

// localSpread is coth(ε/4)/ε.
func localSpread(epsilon float64) float64 {
	if math.IsInf(epsilon, 1) {
		return 0
	}
	return 1 / math.Tanh(epsilon/4) / epsilon
}
