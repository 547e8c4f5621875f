package privacy

import (
	"errors"
	"fmt"
)

// Status says what is known of a Comparison.
type Status string

// The states of knowledge.
const (
	Proved      Status = "proved"
	Conjectural Status = "conjectural" // no proof for general randomizers
	NotABound   Status = "not a bound" // counterexamples are known
)

// ErrOutOfRange is returned by a Comparison, wrapped, for parameters at which its source
// claims nothing.
var ErrOutOfRange = errors.New("outside the range of the bound")

// Comparison is a curve from the literature, to be drawn in a figure beside the bounds
// of this package. It is not an [Amplification]: some curves are not true, and none is
// rounded against the promise.
type Comparison struct {
	Name   string // for the legend
	Source string
	Status Status

	// Curve returns the central ε at n users in [2, 10^9] and delta in (0, 1). It is never
	// above the local ε.
	Curve func(n int, delta float64) (float64, error)
}

// newComparison puts the checks that all curves share before curve.
func newComparison(name, source string, status Status, curve func(n int, delta float64) (float64, error)) Comparison {
	return Comparison{name, source, status, func(n int, delta float64) (float64, error) {
		if err := checkUsers(n); err != nil {
			return 0, err
		}
		if err := checkDelta(delta); err != nil {
			return 0, err
		}
		return curve(n, delta)
	}}
}

func outOfRange(name, parameter string, got any, rule string) error {
	return fmt.Errorf("privacy: %s: %s: got %v, must be %s: %w", name, parameter, got, rule, ErrOutOfRange)
}

// Comparisons returns the curves beside which Wang et al. (Figure 2) draw the amplification
// of Collision, for local budget epsilon in (0, 20], sparsity s >= 1 and t = slots > s:
// the generic ones, those of the mechanism and the paper's own.
func Comparisons(epsilon float64, sparsity, slots int) ([]Comparison, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	if err := checkShape(sparsity, slots); err != nil {
		return nil, err
	}
	generic, mechanism := genericLosses(epsilon), slottedLosses(epsilon, sparsity, slots)
	curves := []Comparison{
		erlingsson(epsilon),
		hoeffding("blanket, Hoeffding, any randomizer", generic),
		bennett("blanket, Bennett, any randomizer", generic),
		hoeffding("blanket, Hoeffding, this mechanism", mechanism),
		bennett("blanket, Bennett, this mechanism", mechanism),
		cloneClosedForm(epsilon),
	}
	for _, build := range []func() (Comparison, error){
		func() (Comparison, error) { return cloneNumeric(epsilon) },
		func() (Comparison, error) { return strongerClone(epsilon) },
		func() (Comparison, error) { return PairCurve(epsilon, pairAlpha(epsilon, sparsity, slots)) },
	} {
		curve, err := build()
		if err != nil {
			return nil, err
		}
		curves = append(curves, curve)
	}
	return curves, nil
}
