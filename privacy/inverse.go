package privacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/root"
)

// ErrUnreachable is returned by ClientsFor if 10^9 clients are not enough.
var ErrUnreachable = errors.New("more than 10^9 clients needed")

// LocalFor returns the largest local ε for which n clients have a central ε of at most target
// at delta. build returns the bound of the mechanism in question for a local ε in
// (0, 20]; it may also choose the mechanism's other parameters, such as the number of slots.
// target is finite and positive, n in [2, 10^9], delta in (0, 1). Errors of build are
// returned as they are. LocalFor ends with the error of ctx once that is done, after the
// evaluation in progress.
//
// The result is rounded down, by less than 10^-5 of itself where the central ε is a smooth
// function of the local one. With the result, Epsilon(n, delta) has been seen to be at most
// target, or the result is target itself. It is never below min(target, 20), because shuffling
// does no harm, and never above 20. The central ε need not grow with the local ε everywhere, as
// when build rounds slots. Then the result still holds, but a larger one might too.
//
// Cost: about twenty evaluations of Delta and a few of Epsilon.
func LocalFor(ctx context.Context, build func(epsilon float64) (fl.Amplification, error), n int, delta, target float64) (float64, error) {
	if err := cmp.Or(checkClients(n), checkDelta(delta), checkTarget("target", target)); err != nil {
		return 0, err
	}
	var failure error
	// In terms of x = 1 + log(20/ε) the excess falls, as root.Solve needs it. After a
	// failure it is negative, and the search ends.
	localAt := func(x float64) float64 { return maxEpsilon * math.Exp(1-x) }
	excess := func(x float64) float64 {
		if failure != nil {
			return -1
		}
		d, err := deltaOf(ctx, build, localAt(x), n, target)
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
		if central, failure = epsilonOf(ctx, build, local, n, delta); failure == nil && central <= target {
			break
		}
		local = math.Max(target, local*(1-step))
	}
	if failure != nil {
		return 0, failure
	}
	return local, nil
}

func deltaOf(ctx context.Context, build func(float64) (fl.Amplification, error), epsilon float64, n int, epsilonCentral float64) (float64, error) {
	a, err := buildAt(ctx, build, epsilon)
	if err != nil {
		return 0, err
	}
	return a.Delta(n, epsilonCentral)
}

func epsilonOf(ctx context.Context, build func(float64) (fl.Amplification, error), epsilon float64, n int, delta float64) (float64, error) {
	a, err := buildAt(ctx, build, epsilon)
	if err != nil {
		return 0, err
	}
	return a.Epsilon(n, delta)
}

// buildAt is build until ctx is done.
func buildAt(ctx context.Context, build func(float64) (fl.Amplification, error), epsilon float64) (fl.Amplification, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	return build(epsilon)
}

// ended returns the error of ctx, if it is done, with the prefix of the package.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	return nil
}

// ClientsFor returns the smallest number n of clients, the victim included, for which
// a.Epsilon(n, delta) is at most epsilonCentral, finite and positive. delta is in (0, 1).
// If 10^9 clients are not enough the error is ErrUnreachable, wrapped. ClientsFor ends with the
// error of ctx once that is done, after the evaluation in progress.
//
// Cost: about 2·log2(n) evaluations of Delta, and of Epsilon twice as many as the number that
// the safety margin adds to n has binary digits.
func ClientsFor(ctx context.Context, a fl.Amplification, epsilonCentral, delta float64) (int, error) {
	if err := cmp.Or(checkTarget("epsilonCentral", epsilonCentral), checkDelta(delta)); err != nil {
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
	n, err := smallest(ctx, necessary, minClients)
	if err == nil {
		n, err = smallest(ctx, sufficient, n)
	}
	if errors.Is(err, ErrUnreachable) {
		return 0, fmt.Errorf("privacy: central epsilon %v at delta %v: %w", epsilonCentral, delta, err)
	}
	return n, err
}

// smallest returns the smallest n in [from, maxClients] with holds(n), which must stay true
// once it is: gallop, then bisect.
func smallest(ctx context.Context, holds func(int) (bool, error), from int) (int, error) {
	at := func(n int) (bool, error) {
		if err := ended(ctx); err != nil {
			return false, err
		}
		return holds(n)
	}
	below, n := from-1, from
	for step := 1; ; step *= 2 {
		ok, err := at(n)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
		if n == maxClients {
			return 0, ErrUnreachable
		}
		below, n = n, min(n+step, maxClients)
	}
	for n-below > 1 {
		mid := below + (n-below)/2
		ok, err := at(mid)
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

func checkTarget(param string, epsilonCentral float64) error {
	if !(epsilonCentral > 0) || math.IsInf(epsilonCentral, 1) {
		return invalid(param, epsilonCentral, "must be finite and positive")
	}
	return nil
}
