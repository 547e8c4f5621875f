package privacy

import (
	"errors"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/internal/root"
)

// ErrUnreachable is returned by ClientsFor if 10^9 users are not enough.
var ErrUnreachable = errors.New("more than 10^9 users needed")

// LocalFor returns the largest local ε for which n users have a central ε of at most target
// at delta. build returns the bound of the mechanism in question for a local ε in
// (0, 20]; it may also choose the mechanism's other parameters, such as the number of slots.
// target is finite and positive, n in [2, 10^9], delta in (0, 1). Errors of build are
// returned as they are.
//
// The result is rounded down, by less than 10^-5 of itself where the central ε is a smooth
// function of the local one: with it, Epsilon(n, delta) has been seen to be at most target, or
// it is target itself. It is never below min(target, 20), because shuffling does no harm, and
// never above 20. If the central ε that build leads to does not grow with the local ε
// everywhere (as when slots are rounded), the result holds but a larger one might too.
//
// Cost: about twenty evaluations of Delta and a few of Epsilon.
func LocalFor(build func(epsilon float64) (Amplification, error), n int, delta, target float64) (float64, error) {
	if err := checkUsers(n); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	if err := checkTarget(target); err != nil {
		return 0, err
	}
	var failure error
	// In terms of x = 1 + log(20/ε) the excess falls, which is what solve asks for. After a
	// failure it is negative, which ends the search.
	localAt := func(x float64) float64 { return maxEpsilon * math.Exp(1-x) }
	excess := func(x float64) float64 {
		if failure != nil {
			return -1
		}
		d, err := deltaOf(build, localAt(x), n, target)
		failure = err
		return math.Log1p((d - delta) / delta)
	}
	local := float64(maxEpsilon)
	if atLimit := excess(1); atLimit > 0 { // at ε = target δ is 0
		x := root.Solve(excess, 1, 1+math.Log(maxEpsilon/target), atLimit, math.Inf(-1))
		local = math.Max(target, localAt(x))
	}
	// Epsilon is a little above the root of Delta, so step down until it agrees.
	for step := 1e-6; failure == nil && local > target; step *= 2 {
		var central float64
		if central, failure = epsilonOf(build, local, n, delta); failure == nil && central <= target {
			break
		}
		local = math.Max(target, local*(1-step))
	}
	if failure != nil {
		return 0, failure
	}
	return local, nil
}

func deltaOf(build func(float64) (Amplification, error), epsilon float64, n int, epsilonCentral float64) (float64, error) {
	a, err := build(epsilon)
	if err != nil {
		return 0, err
	}
	return a.Delta(n, epsilonCentral)
}

func epsilonOf(build func(float64) (Amplification, error), epsilon float64, n int, delta float64) (float64, error) {
	a, err := build(epsilon)
	if err != nil {
		return 0, err
	}
	return a.Epsilon(n, delta)
}

// ClientsFor returns the smallest number n of users, victim included, for which
// a.Epsilon(n, delta) is at most epsilonCentral, finite and positive. delta is in (0, 1).
// If 10^9 users are not enough the error is ErrUnreachable, wrapped.
//
// Cost: about 2·log2(n) evaluations of Delta, and of Epsilon twice as many as the number that
// the safety margin adds to n has binary digits.
func ClientsFor(a Amplification, epsilonCentral, delta float64) (int, error) {
	if err := checkTarget(epsilonCentral); err != nil {
		return 0, err
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	// The condition on Delta is cheaper and necessary; it comes first.
	necessary := func(n int) (bool, error) {
		d, err := a.Delta(n, epsilonCentral)
		return d <= delta, err
	}
	sufficient := func(n int) (bool, error) {
		e, err := a.Epsilon(n, delta)
		return e <= epsilonCentral, err
	}
	n, err := smallest(necessary, minUsers)
	if err == nil {
		n, err = smallest(sufficient, n)
	}
	if errors.Is(err, ErrUnreachable) {
		return 0, fmt.Errorf("privacy: central epsilon %v at delta %v: %w", epsilonCentral, delta, err)
	}
	return n, err
}

// smallest returns the smallest n in [from, maxUsers] with holds(n), which must stay true
// once it is: gallop, then bisect.
func smallest(holds func(int) (bool, error), from int) (int, error) {
	below, n := from-1, from
	for step := 1; ; step *= 2 {
		ok, err := holds(n)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if n == maxUsers {
			return 0, ErrUnreachable
		}
		below, n = n, min(n+step, maxUsers)
	}
	for n-below > 1 {
		mid := below + (n-below)/2
		ok, err := holds(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			n = mid
		} else {
			below = mid
		}
	}
	return n, nil
}

func checkTarget(epsilonCentral float64) error {
	if !(epsilonCentral > 0) || math.IsInf(epsilonCentral, 1) {
		return fmt.Errorf("privacy: central epsilon: got %v, must be finite and positive", epsilonCentral)
	}
	return nil
}
