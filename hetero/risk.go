package hetero

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// PACFactor returns L = ln(k/β), by which the noise counts when the error is to
// stay below the risk with probability 1−β. The number k of categories is 1 for
// a mean; β is in (0, 1).
func PACFactor(categories int, beta float64) (float64, error) {
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	if math.IsNaN(beta) || beta <= 0 || beta >= 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("beta", beta, "must be in (0, 1)"))
	}
	return math.Log(float64(categories)) - math.Log(beta), nil
}

// MSEFactor returns L for the mean squared error (of the largest deviation, for
// a histogram): ln k for k ≥ 2 categories, and 1 for a mean, k = 1.
func MSEFactor(categories int) (float64, error) {
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	if categories == 1 {
		return 1, nil
	}
	return math.Log(float64(categories)), nil
}

// maxFactor bounds L, so that squares stay finite.
const maxFactor = 1e9

func checkFactor(name string, factor, most float64) error {
	if math.IsNaN(factor) || factor < 0 || factor > most {
		return fl.Invalid(name, factor, "must be in [0, %g]", most)
	}
	return nil
}

// CorrelatedRisk returns r_C, up to a constant the error of the weights in the
// worst case over all data: with v = ‖w/ε‖_∞,
//
//	r_C² = ‖w − 1/n‖₁² + L²·v²
//
// in units of the values. See [PACFactor] and [MSEFactor] for L. O(n).
func CorrelatedRisk(eps []float64, w Weights, l float64) (float64, error) {
	if err := checkRisk(eps, w, l); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	return math.Hypot(w.bias(), l*w.noiseScale(eps)), nil
}

// UncorrelatedRisk returns r_U, the same when the demands are independent of the
// data, so that unequal weights act like a smaller sample:
//
//	r_U² = min(‖w − 1/n‖₁², L·‖w‖₂²) + L²·v²
//
// O(n).
func UncorrelatedRisk(eps []float64, w Weights, l float64) (float64, error) {
	if err := checkRisk(eps, w, l); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	return w.uncorrelatedRisk(eps, l), nil
}

func checkRisk(eps []float64, w Weights, l float64) error {
	if err := checkDemands(eps); err != nil {
		return err
	}
	if err := w.check(len(eps)); err != nil {
		return err
	}
	return checkFactor("l", l, maxFactor)
}

func (w Weights) uncorrelatedRisk(eps []float64, l float64) float64 {
	return math.Hypot(min(w.bias(), math.Sqrt(l)*floats.Norm(w, 2)), l*w.noiseScale(eps))
}

// bias returns ‖w − 1/n‖₁.
func (w Weights) bias() float64 {
	share, sum := 1/float64(len(w)), 0.
	for _, x := range w {
		sum += math.Abs(x - share)
	}
	return sum
}

// noiseScale returns ‖w/ε‖_∞. Public data needs no noise.
func (w Weights) noiseScale(eps []float64) float64 {
	scale := 0.
	for i, x := range w {
		scale = max(scale, x/eps[i])
	}
	return scale
}
