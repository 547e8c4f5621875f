package descent

import "gonum.org/v1/gonum/floats"

// Average is the exponential moving average that trainer.Average describes. It is not safe for concurrent use.
type Average struct {
	decay  float64
	sum    []float64 // the numerator
	weight float64   // the denominator; 0 before the first Add
}

// NewAverage returns the average of no iterates yet, of dim parameters each,
// with a decay in [0, 1). The error names the argument that is out of range.
func NewAverage(dim int, decay float64) (*Average, error) {
	if dim < 1 || dim > MaxValues {
		return nil, invalid("dim", dim, "must be in [1, %d]", MaxValues)
	}
	if !(decay >= 0 && decay < 1) {
		return nil, invalid("decay", decay, "must be in [0, 1)")
	}
	return &Average{decay: decay, sum: make([]float64, dim)}, nil
}

// Add takes the next iterate into the average. params must have the average's
// length and finite elements of at most 1e40 in magnitude; otherwise the error
// names the first offending coordinate and the average stays as it is. O(d).
func (a *Average) Add(params []float64) error {
	if err := CheckVector("params", params, len(a.sum)); err != nil {
		return err
	}
	floats.Scale(a.decay, a.sum)
	floats.Add(a.sum, params)
	a.weight = a.decay*a.weight + 1
	return nil
}

// Params writes the average into dst, which must have the average's length. It
// is an error when nothing was added yet. O(d).
func (a *Average) Params(dst []float64) error {
	if len(dst) != len(a.sum) {
		return invalid("dst", len(dst), "must have %d elements", len(a.sum))
	}
	if a.weight == 0 {
		return invalid("iterates", 0, "must be at least 1")
	}
	for i, s := range a.sum {
		dst[i] = s / a.weight
	}
	return nil
}
