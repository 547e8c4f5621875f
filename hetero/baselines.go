package hetero

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Local is the baseline without a trusted server: every client randomizes its own
// bits. Each bit flips with a probability of its own, and the reports are averaged. It is immutable and safe for concurrent use.
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
// to [0, 1] and unbiased before that. A nil rng is a fresh fl.NewRand. O(n).
func (l *Local) Mean(values []float64, rng *rand.Rand) (float64, error) {
	if l.categories != 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("categories", l.categories, "must be 1 for a mean"))
	}
	if err := checkReals(values, len(l.flips)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	sum := 0.
	for i, x := range values {
		sum += l.weights[i] * l.report(i, rng.Float64() < x, rng)
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
		for j := range frequencies {
			frequencies[j] += l.weights[i] * l.report(i, j == category, rng)
		}
	}
	for j, f := range frequencies {
		frequencies[j] = clamp(f)
	}
	return frequencies, nil
}

// report flips the bit of client i, or not, and divides its distance from 1/2 by
// 1 − 2·P[flip], which is tanh(ε/4) or tanh(ε/2) up to rounding. The difference
// is taken in integers.
func (l *Local) report(i int, bit bool, rng *rand.Rand) float64 {
	unbias := math.Ldexp(float64(1<<63-uint64(l.flips[i])), -63)
	if bit != l.flips[i].flip(rng) {
		return 0.5 + 0.5/unbias
	}
	return 0.5 - 0.5/unbias
}

// Sampling is the sampling mechanism of Jorgensen, Yu, Cormode, "Conservative or
// Liberal? Personalized Differential Privacy", ICDE 2015, a baseline: client i is
// drawn into a sample with probability
//
//	π_i = min(1, (e^ε_i − 1)/(e^t − 1)),
//
// rounded down, and the sample is published with t-differential privacy for a
// public threshold t. The rest of the clients count as absent, so that the noise
// covers the removal of a value as well as its replacement. The estimates divide
// by Σ π_i, not by the size of the sample, which is private. They are immutable
// and safe for concurrent use.
type Sampling struct {
	noise      Noise
	always     []bool // clients with ε ≥ t
	chances    []coin // of the others
	expected   float64
	categories int // 1 for a mean
}

// NewSampling prepares the estimates for k categories, or for numbers in [0, 1]
// if k is 1. The threshold is in [MinEpsilon, MaxEpsilon]. O(n).
func NewSampling(eps []float64, threshold float64, categories int) (*Sampling, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if math.IsNaN(threshold) || threshold < MinEpsilon || threshold > MaxEpsilon {
		return nil, fmt.Errorf("hetero: %w",
			fl.Invalid("threshold", threshold, "must be in [%g, %g]", MinEpsilon, MaxEpsilon))
	}
	if err := checkCategoryCount(categories, 1); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	s := &Sampling{
		noise:      equalNoise(len(eps), threshold, int64(min(categories, 2))),
		always:     make([]bool, len(eps)),
		chances:    make([]coin, len(eps)),
		categories: categories,
	}
	for i, e := range eps {
		if e >= threshold {
			s.always[i] = true
			s.expected++
			continue
		}
		// (e^ε−1)/(e^t−1) without overflow.
		s.chances[i] = coinBelow(math.Exp(e-threshold) * math.Expm1(-e) / math.Expm1(-threshold))
		s.expected += s.chances[i].probability()
	}
	if s.expected == 0 {
		return nil, fmt.Errorf("hetero: %w",
			fl.Invalid("threshold", threshold, "must let some client into the sample with probability 2^-64 or more"))
	}
	return s, nil
}

// Mean returns the average of the sampled values, clamped to [0, 1]. Before
// that its mean is Σ π_i·values_i/Σ π_i. Values count by their distance from the
// middle, to which an absent client contributes 0. A nil rng is a fresh fl.NewRand. O(n).
func (s *Sampling) Mean(values []float64, rng *rand.Rand) (float64, error) {
	if s.categories != 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("categories", s.categories, "must be 1 for a mean"))
	}
	if err := checkReals(values, len(s.always)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	unit := s.noise.units[0]
	sum := s.noise.draw(rng)
	for i, x := range values {
		if s.sampled(i, rng) {
			sum += s.noise.contribution(i, x) - unit/2
		}
	}
	return clamp(float64(sum)/float64(unit)/s.expected + float64(unit/2)/float64(unit)), nil
}

// Histogram returns the frequencies in the sample, clamped to [0, 1]. Before
// that their means are Σ π_i·1{values_i = j}/Σ π_i. A nil rng is a fresh
// fl.NewRand. O(n + k).
func (s *Sampling) Histogram(values []int, rng *rand.Rand) ([]float64, error) {
	if err := checkCategoryCount(s.categories, 2); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := checkCategories(values, len(s.always), s.categories); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	unit := s.noise.units[0]
	sums := make([]int64, s.categories)
	for i, category := range values {
		if s.sampled(i, rng) {
			sums[category] += unit
		}
	}
	frequencies := make([]float64, s.categories)
	for j, sum := range sums {
		frequencies[j] = clamp(float64(sum+s.noise.draw(rng)) / float64(unit) / s.expected)
	}
	return frequencies, nil
}

func (s *Sampling) sampled(i int, rng *rand.Rand) bool {
	return s.always[i] || s.chances[i].flip(rng)
}

// coin is true with probability coin/2^64, exactly.
type coin uint64

// coinMargin is above the relative error of computed probabilities: that of e^−x
// is x·2^−53 for a rounded x, and at x = 745 nothing is left.
const coinMargin = 0x1p-40

// coinAbove and coinBelow return coins whose probability is close to p < 1 and on
// the named side of the number that p approximates.
func coinAbove(p float64) coin { return coin(p*(1+coinMargin)*0x1p64) + 1 }
func coinBelow(p float64) coin { return coin(p * (1 - coinMargin) * 0x1p64) }

func (c coin) flip(rng *rand.Rand) bool { return rng.Uint64() < uint64(c) }

// probability is rounded to the nearest float64.
func (c coin) probability() float64 { return math.Ldexp(float64(c), -64) }
