package server

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Worth says how an estimated mean compares with its own error.
type Worth struct {
	// NoiseNorm is the Euclidean norm of the error, see fl.Estimate.
	NoiseNorm float64
	// SignalToNoise is the Euclidean norm of the mean, without what the error adds to it, over
	// NoiseNorm. Below 1 the mean is below the noise: its error is larger than itself.
	SignalToNoise float64
}

// worthOf returns nil where no error is known, or none is there.
func worthOf(e *fl.Estimate) *Worth {
	if e == nil || !(e.NoiseNorm > 0) || math.IsInf(e.NoiseNorm, 0) {
		return nil
	}
	squares := 0.
	for _, x := range e.Mean().Value {
		squares += x * x
	}
	// E|mean + error|² is |mean|² + NoiseNorm².
	signal := math.Sqrt(math.Max(0, squares-e.NoiseNorm*e.NoiseNorm))
	return &Worth{NoiseNorm: e.NoiseNorm, SignalToNoise: signal / e.NoiseNorm}
}
