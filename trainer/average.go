package trainer

import (
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// Average keeps an exponential moving average of the parameters that training
// passes through. The last iterate of stochastic gradient descent jumps about
// with the noise of the last gradients; the average of many iterates does not
// (Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging,
// SIAM Journal on Control and Optimization 30(4), 1992). It is computed from
// public models, so it costs no privacy and works with any optimizer (De,
// Berrada, Hayes, Smith and Balle, Unlocking High-Accuracy Differentially
// Private Image Classification through Scale, 2022, arXiv:2204.13650).
//
// After t iterates θ_1 … θ_t the average with decay β is
//
//	(Σ β^(t-s)·θ_s) / (Σ β^(t-s)),  s = 1 … t
//
// which is the recurrence a ← βa + (1-β)θ from a = 0, divided by 1-β^t so that
// the start at zero has no weight. It reaches back over some 1/(1-β) iterates:
// decay 0 is the last iterate, and a decay near 1 the mean of all.
//
// An Average is not safe for concurrent use.
type Average struct{ of *descent.Average }

// NewAverage returns the average of no iterates yet, of dim parameters each,
// with a decay in [0, 1). The error names the argument that is out of range.
func NewAverage(dim int, decay float64) (_ *Average, err error) {
	defer prefix.Error(&err, "trainer")
	of, err := descent.NewAverage(dim, decay)
	if err != nil {
		return nil, err
	}
	return &Average{of}, nil
}

// Add takes the next iterate into the average. params must have the average's
// length and finite elements of at most 1e40 in magnitude; otherwise the error
// names the first offending coordinate and the average stays as it is. O(d).
func (a *Average) Add(params []float64) (err error) {
	defer prefix.Error(&err, "trainer")
	return a.of.Add(params)
}

// Params writes the average into dst, which must have the average's length. It
// is an error when nothing was added yet. O(d).
func (a *Average) Params(dst []float64) (err error) {
	defer prefix.Error(&err, "trainer")
	return a.of.Params(dst)
}
