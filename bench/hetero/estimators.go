package hetero

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Mean publishes the weighted mean of one number in [0, 1] per client: HPM, the
// paper's Algorithm 2. It is immutable and safe for concurrent use.
type Mean struct{ Noise }

// NewMean prepares the mean for clients with the demands eps and weights w. It
// copies what it needs. O(n).
func NewMean(eps []float64, w Weights) (*Mean, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := w.check(len(eps)); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return &Mean{newNoise(slices.Clone(eps), w, 1, defaultNoiseBits)}, nil
}

// Estimate returns Σ w_i·values_i with noise, clamped to [0, 1]. Before
// clamping its mean is the weighted mean and its standard deviation StdDev. Each
// call spends the whole budget of every client. A nil rng is a fresh fl.NewRand. O(n).
func (m *Mean) Estimate(values []float64, rng *rand.Rand) (float64, error) {
	if err := checkReals(values, len(m.units)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	return clamp(float64(m.sum(values)+m.draw(rng)) / float64(m.total)), nil
}

// sum returns the weighted sum in grid units.
func (m *Mean) sum(values []float64) (sum int64) {
	for i, x := range values {
		sum += m.contribution(i, x)
	}
	return sum
}

// Histogram publishes the weighted frequencies of k categories, one category per
// client: HPF, the paper's Algorithm 1. It is immutable and safe for concurrent use.
type Histogram struct {
	Noise
	categories int
}

// NewHistogram prepares the histogram of k ≥ 2 categories for clients with the
// demands eps and weights w. It copies what it needs. O(n).
func NewHistogram(eps []float64, w Weights, categories int) (*Histogram, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := w.check(len(eps)); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if err := checkCategoryCount(categories, 2); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return &Histogram{newNoise(slices.Clone(eps), w, 2, defaultNoiseBits), categories}, nil
}

// Estimate returns, for every category, the weight of the clients whose value it
// is, with noise, clamped to [0, 1]. Values are in [0, k). Before clamping the
// frequencies have the right means and the standard deviation StdDev. Each call
// spends the whole budget of every client. A nil rng is a fresh fl.NewRand. O(n + k).
func (h *Histogram) Estimate(values []int, rng *rand.Rand) ([]float64, error) {
	if err := checkCategories(values, len(h.units), h.categories); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	rng = orFresh(rng)
	frequencies := make([]float64, h.categories)
	for j, sum := range h.sums(values) {
		frequencies[j] = clamp(float64(sum+h.draw(rng)) / float64(h.total))
	}
	return frequencies, nil
}

// sums returns the weight of each category in grid units.
func (h *Histogram) sums(values []int) []int64 {
	sums := make([]int64, h.categories)
	for i, category := range values {
		sums[category] += h.units[i]
	}
	return sums
}
