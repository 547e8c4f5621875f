package privacy

import (
	"cmp"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/root"
)

// Limits of the parameters.
const (
	maxEpsilon = 20
	minClients = 2
	maxClients = 1_000_000_000
)

// safetyMargin is the part of itself by which Epsilon is raised above the root of
// Delta. Published computations of the same quantities differ from one another by up
// to 2.7·10^-7 at n = 10^6; with the margin a result is not below any of them.
const safetyMargin = 5e-7

// checkedDelta is delta behind the checks that Blanket and Clone share.
func (b *bound) checkedDelta(n int, epsilonCentral float64, kept *tables) (float64, error) {
	if err := checkClients(n); err != nil {
		return 0, err
	}
	if !(epsilonCentral >= 0) || math.IsInf(epsilonCentral, 1) {
		return 0, invalid("epsilonCentral", epsilonCentral, "must be finite and >= 0")
	}
	return b.deltaWith(n, epsilonCentral, kept), nil
}

// checkedEpsilon is the root of Delta with the safety margin.
func (b *bound) checkedEpsilon(n int, delta float64) (float64, error) {
	if err := cmp.Or(checkClients(n), checkDelta(delta)); err != nil {
		return 0, err
	}
	return math.Min(b.epsilon, b.root(n, delta)*(1+safetyMargin)), nil
}

// root returns the smallest ε_c at which the bound is at most delta, rounded up by at most
// root.Tolerance of itself. It is in [0, ε].
func (b *bound) root(n int, delta float64) float64 {
	kept := &tables{budget: b.budget()}
	excess := func(epsilon float64) float64 { // log of the ratio, with the exact sign of the difference
		return math.Log1p((b.deltaWith(n, epsilon, kept) - delta) / delta)
	}
	atZero := excess(0)
	if atZero <= 0 {
		return 0
	}
	hi := b.chernoffEpsilon(n, delta)
	return root.Solve(excess, 0, hi, atZero, excess(hi))
}

// chernoffEpsilon returns an ε_c in (0, ε] whose Chernoff bound is at most delta. It
// is a little above the answer and costs microseconds.
func (b *bound) chernoffEpsilon(n int, delta float64) float64 {
	lo, hi := 0.0, b.epsilon
	for range 50 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if b.tilt(b.losses(mid), n).chernoff*b.unit(n) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

func checkEpsilon(epsilon float64) error {
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return invalid("epsilon", epsilon, "must be in (0, %d]", maxEpsilon)
	}
	return nil
}

func checkClients(n int) error {
	if n < minClients || n > maxClients {
		return invalid("clients", n, "must be in [%d, %d]", minClients, maxClients)
	}
	return nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return invalid("delta", delta, "must be in (0, 1)")
	}
	return nil
}

// invalid returns a *fl.ParamError with the prefix of the package.
func invalid(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("privacy: %w", fl.Invalid(param, got, rule, args...))
}
