package compose

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// Curve is the hockey-stick curve of one mechanism, or an upper bound on it: it returns δ
// such that the mechanism is (epsilon, δ)-differentially private in both directions, for
// any finite epsilon >= 0.
type Curve func(epsilon float64) (delta float64, err error)

// Pure returns the loss of an epsilon-differentially private mechanism, whatever it is;
// epsilon in [0, 100].
func Pure(epsilon float64, options Options) (*Distribution, error) {
	return Approximate(epsilon, 0, options)
}

// Approximate returns the loss of an (epsilon, delta)-differentially private mechanism,
// whatever it is: that of randomized response with an error symbol (Kairouz, Oh and
// Viswanath, ICML 2015). epsilon in [0, 100], delta in [0, 1).
func Approximate(epsilon, delta float64, options Options) (*Distribution, error) {
	if err := within("epsilon", epsilon, 0, 100); err != nil {
		return nil, err
	}
	if !(delta >= 0 && delta < 1) {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("delta", delta, "must be in [0, 1)"))
	}
	return named(response{epsilon, delta}, options)
}

// Gaussian returns the loss of Gaussian noise with standard deviation sigma times the
// Euclidean sensitivity; sigma in [0.05, 10^4].
func Gaussian(sigma float64, options Options) (*Distribution, error) {
	if err := within("sigma", sigma, 0.05, 1e4); err != nil {
		return nil, err
	}
	return named(curved{gaussian{1 / sigma}}, options)
}

// DiscreteLaplace returns the loss of integer noise x with probability proportional to
// e^{−eta·|x|} on a query of sensitivity shift; eta in [10^-6, 100], shift in
// [1, 10^6], eta·shift at most 100. It covers all smaller shifts.
func DiscreteLaplace(eta float64, shift int, options Options) (*Distribution, error) {
	if err := within("eta", eta, 1e-6, 100); err != nil {
		return nil, err
	}
	if shift < 1 || shift > 1_000_000 || eta*float64(shift) > 100 {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("shift", shift, "must be in [1, 10^6] and at most 100/eta = %v", 100/eta))
	}
	return named(discreteLaplace{eta, shift}, options)
}

// Shuffled returns the loss of one round of users shuffled reports of an s-sparse
// mechanism with t slots, through the blanket privacy.NewBlanket(epsilon, s, t). users in
// [2, 10^9]. Lower bounds refer to the blanket.
func Shuffled(epsilon float64, sparsity, slots, users int, options Options) (*Distribution, error) {
	if _, err := privacy.NewBlanket(epsilon, sparsity, slots); err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	if users < 2 || users > 1_000_000_000 {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("users", users, "must be in [2, 10^9]"))
	}
	return named(curved{shuffled{epsilon, sparsity, slots, users}}, options)
}

// FromCurve returns the loss of a mechanism with the given curve, which is called for
// epsilon in [0, maxEpsilon], maxEpsilon in (0, 600]. What it returns last is the
// probability of an infinite loss. The curve need not be smooth or convex: upper bounds
// hold for whatever is below it. Lower bounds refer to the convex curves that pass through
// the corners of the convex hull of its values on the grid.
//
// Two distributions count as the same mechanism only if they come from one call.
func FromCurve(curve Curve, maxEpsilon float64, options Options) (*Distribution, error) {
	if curve == nil {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("curve", "nil", "must not be nil"))
	}
	if !(maxEpsilon > 0 && maxEpsilon <= maxLoss) {
		return nil, fmt.Errorf("compose: %w", fl.Invalid("maxEpsilon", maxEpsilon, "must be in (0, %v]", maxLoss))
	}
	return named(curved{&userCurve{curve, maxEpsilon}}, options)
}

func (u *userCurve) delta(epsilon float64) (float64, error) {
	delta, err := u.curve(epsilon)
	if err != nil {
		return 0, fmt.Errorf("curve at %v: %w", epsilon, err)
	}
	if !(delta >= 0 && delta <= 1) {
		return 0, fl.Invalid(fmt.Sprintf("curve at %v", epsilon), delta, "must be in [0, 1]")
	}
	return delta, nil
}

func within(param string, got, lo, hi float64) error {
	if !(got >= lo && got <= hi) {
		return fmt.Errorf("compose: %w", fl.Invalid(param, got, "must be in [%v, %v]", lo, hi))
	}
	return nil
}

func named(m mechanism, options Options) (*Distribution, error) {
	d, err := newDistribution(m, options)
	if err != nil {
		return nil, fmt.Errorf("compose: %w", err)
	}
	return d, nil
}
