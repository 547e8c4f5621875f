package hetero

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Weights are the clients' parts of the average: numbers ≥ 0 of sum 1.
type Weights []float64

// sumTolerance bounds the rounding error of a sum of weights.
const sumTolerance = 1e-9

// check refuses what is not on the simplex of the given dimension. O(n).
func (w Weights) check(clients int) error {
	if len(w) != clients {
		return fl.Invalid("weights", fmt.Sprintf("%d weights", len(w)), "must have one per client, %d", clients)
	}
	for i, x := range w {
		if math.IsNaN(x) || x < 0 || x > 1+sumTolerance {
			return fl.Invalid(fmt.Sprintf("weights[%d]", i), x, "must be in [0, 1]")
		}
	}
	if sum := floats.SumCompensated(w); math.Abs(sum-1) > sumTolerance {
		return fl.Invalid("weights", sum, "must sum to 1")
	}
	return nil
}

// proportional returns the weights f(ε_i)/Σ f(ε_j).
func proportional(eps []float64, f func(float64) float64) Weights {
	w := make(Weights, len(eps))
	for i, e := range eps {
		w[i] = f(e)
	}
	floats.Scale(1/floats.SumCompensated(w), w)
	return w
}

// Saturating returns weights in proportion to 1−e^−ε_i: like ε_i for careful
// clients, all alike for careless ones. It is the paper's heuristic A. O(n).
func Saturating(eps []float64) (Weights, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return proportional(eps, func(e float64) float64 { return -math.Expm1(-e) }), nil
}

// Uniform returns the weights 1/n: everybody gets the smallest ε. O(n).
func Uniform(eps []float64) (Weights, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	return proportional(eps, func(float64) float64 { return 1 }), nil
}

// Proportional returns weights in proportion to ε_i, the weights of the least noise.
// When there are demands of +Inf, their clients share all of the weight equally: the
// limit of equal demands that grow. O(n).
func Proportional(eps []float64) (Weights, error) {
	if err := checkDemands(eps); err != nil {
		return nil, fmt.Errorf("hetero: %w", err)
	}
	if math.IsInf(floats.Max(eps), 1) {
		return proportional(eps, func(e float64) float64 {
			if math.IsInf(e, 1) {
				return 1
			}
			return 0
		}), nil
	}
	return proportional(eps, func(e float64) float64 { return e }), nil
}
