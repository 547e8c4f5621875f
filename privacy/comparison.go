package privacy

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Status says what is known of a Comparison.
type Status string

// The states of knowledge.
const (
	Proved      Status = "proved"
	Conjectural Status = "conjectural" // no proof for general randomizers
	NotABound   Status = "not a bound" // counterexamples are known
	LowerBound  Status = "lower bound" // no bound can be below
)

// ErrOutOfRange is returned by a Comparison, wrapped, for parameters at which its source
// claims nothing.
var ErrOutOfRange = errors.New("outside the range of the bound")

// Comparison is a curve from the literature, to be drawn in a figure beside the bounds
// of this package. It is not an [fl.Amplification]: some curves are not true, and none is
// rounded against the promise.
type Comparison struct {
	Name   string // for the legend
	Source string
	Status Status

	// Curve returns the central ε at n clients in [2, 10^9] and delta in (0, 1). It is never
	// above the local ε.
	Curve func(n int, delta float64) (float64, error)
}

// newComparison puts the checks that all curves share before curve.
func newComparison(name, source string, status Status, curve func(n int, delta float64) (float64, error)) Comparison {
	return Comparison{name, source, status, func(n int, delta float64) (float64, error) {
		if err := cmp.Or(checkClients(n), checkDelta(delta)); err != nil {
			return 0, err
		}
		return curve(n, delta)
	}}
}

// outOfRange returns an error that wraps ErrOutOfRange and a *fl.ParamError.
func outOfRange(name, param string, got any, rule string) error {
	return fmt.Errorf("privacy: %s: %w: %w", name, ErrOutOfRange, fl.Invalid(param, got, "%s", rule))
}

// Comparisons returns the curves of Figure 2 of Wang et al., who draw the amplification of
// Collision beside them: those for any randomizer, those for the mechanism and the paper's
// own. The local budget epsilon is in (0, 20], the sparsity s >= 1 and t = slots > s.
func Comparisons(epsilon float64, sparsity, slots int) ([]Comparison, error) {
	if err := cmp.Or(checkEpsilon(epsilon), checkShape(sparsity, slots)); err != nil {
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

// erlingsson is the main theorem of Erlingsson, Feldman, Mironov, Raghunathan, Talwar and
// Thakurta, "Amplification by Shuffling: From Local to Central Differential Privacy via
// Anonymity", SODA 2019: ε_c = 12ε·√(log(1/δ)/n) for n > 1000, ε < 1/2 and δ < 1/100.
func erlingsson(epsilon float64) Comparison {
	const name = "Erlingsson et al. 2019"
	return newComparison(name, "Erlingsson et al., SODA 2019", Proved,
		func(n int, delta float64) (float64, error) {
			switch {
			case !(epsilon < 0.5):
				return 0, outOfRange(name, "epsilon", epsilon, "must be below 0.5")
			case n <= 1000:
				return 0, outOfRange(name, "clients", n, "must be above 1000")
			case !(delta < 0.01):
				return 0, outOfRange(name, "delta", delta, "must be below 0.01")
			}
			return math.Min(epsilon, 12*epsilon*math.Sqrt(-math.Log(delta)/float64(n))), nil
		})
}

// cloneClosedForm is Theorem 3.1 of Feldman, McMillan and Talwar, FOCS 2021: for
// ε <= log(n/(16·log(2/δ)))
//
//	ε_c = log(1 + (e^ε−1)/(e^ε+1)·(8√(e^ε·log(4/δ))/√n + 8e^ε/n)).
func cloneClosedForm(epsilon float64) Comparison {
	const name = "clones, closed form"
	e := math.Exp(epsilon)
	return newComparison(name, "Feldman, McMillan and Talwar, FOCS 2021, Theorem 3.1", Proved,
		func(n int, delta float64) (float64, error) {
			clients := float64(n)
			if !(e*16*math.Log(2/delta) <= clients) {
				return 0, outOfRange(name, "epsilon", epsilon, "must be at most log(n/(16·log(2/δ)))")
			}
			sum := 8*math.Sqrt(e*math.Log(4/delta)/clients) + 8*e/clients
			return math.Min(epsilon, math.Log1p(math.Tanh(epsilon/2)*sum)), nil
		})
}

// cloneNumeric is Clone.
func cloneNumeric(epsilon float64) (Comparison, error) {
	c, err := NewClone(epsilon)
	if err != nil {
		return Comparison{}, err
	}
	return newComparison("clones, numeric", "Feldman, McMillan and Talwar, FOCS 2021, Theorem 3.2", Proved, c.Epsilon), nil
}

// strongerClone is the pair with α = 1/(e^ε+1), the largest there is: then no message is
// neutral, as in Blanket with s = 1 and t = 2. For general randomizers the reduction to it
// has been withdrawn; see the package documentation.
func strongerClone(epsilon float64) (Comparison, error) {
	b, err := NewBlanket(epsilon, 1, 2)
	if err != nil {
		return Comparison{}, err
	}
	return newComparison("stronger clones", "Feldman, McMillan and Talwar, SODA 2023 (arXiv 2208.04591)", Conjectural,
		func(n int, delta float64) (float64, error) { return b.root(n, delta), nil }), nil
}
