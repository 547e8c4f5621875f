package hetero

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Mean publishes the weighted mean of one number in [0, 1] per user: HPM, the
// paper's Algorithm 2. It is immutable and safe for concurrent use.
type Mean struct{ Noise }

// NewMean prepares the mean for users with the demands eps and weights w. It
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
// call spends the whole budget of every user. O(n).
func (m *Mean) Estimate(values []float64, rng *rand.Rand) (float64, error) {
	if err := checkReals(values, len(m.units)); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	return clamp(float64(m.sum(values)+m.draw(rng)) / float64(m.total)), nil
}

// sum returns the weighted sum in grid units.
func (m *Mean) sum(values []float64) (sum int64) {
	for i, x := range values {
		sum += m.contribution(i, x)
	}
	return sum
}
