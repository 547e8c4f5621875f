package hetero

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

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

// coinMargin is above the relative error of computed probabilities: the relative error of
// e^−x is x·2^−53 for a rounded x, and at x = 745 nothing is left of e^−x.
const coinMargin = 0x1p-40

// coinAbove and coinBelow return coins whose probability is close to p < 1 and on
// the named side of the number that p approximates.
func coinAbove(p float64) coin { return coin(p*(1+coinMargin)*0x1p64) + 1 }
func coinBelow(p float64) coin { return coin(p * (1 - coinMargin) * 0x1p64) }

func (c coin) flip(rng *rand.Rand) bool { return rng.Uint64() < uint64(c) }

// probability is rounded to the nearest float64.
func (c coin) probability() float64 { return math.Ldexp(float64(c), -64) }
