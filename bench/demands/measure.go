package demands

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

// measure is how the errors of the repeats become one number.
type measure uint8

const (
	quantile measure = iota // the 95 % quantile, P in the paper
	square                  // the mean square, E in the paper
)

var measures = []measure{quantile, square}

func (m measure) String() string { return [...]string{"95 % quantile", "mean square"}[m] }

// failure is β of the weights that are scored by the quantile 1−β.
const failure = 0.05

// factor is L of the published weights made for the measure.
func (m measure) factor(categories int) (float64, error) {
	if m == quantile {
		return hetero.PACFactor(categories, failure)
	}
	return hetero.MSEFactor(categories)
}

// of sorts the errors and returns the measure: the quantile is the r-th of n with
// r = ⌈0.95·n⌉.
func (m measure) of(errors []float64) float64 {
	if m == quantile {
		slices.Sort(errors)
		return errors[(19*len(errors)+19)/20-1]
	}
	squares := make([]float64, len(errors))
	for i, e := range errors {
		squares[i] = e * e
	}
	return stat.Mean(squares, nil)
}

// largestError is the ℓ∞ distance of two histograms, or of two means.
func largestError(got, want []float64) float64 {
	var worst float64
	for j, v := range got {
		worst = math.Max(worst, math.Abs(v-want[j]))
	}
	return worst
}
