package privacy

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
)

// Bounds encloses a number: Upper is the privacy guarantee and Upper − Lower bounds by how
// much discretisation, truncation and rounding have made it larger than it need be.
type Bounds struct{ Lower, Upper float64 }

// Error returns Upper − Lower.
func (b Bounds) Error() float64 { return b.Upper - b.Lower }

// Delta returns bounds on the smallest δ for which the composition is
// (epsilon, δ)-differentially private; epsilon must be finite and at least 0. It ends with the
// error of ctx once that is done.
//
// Cost: at most O(N log N), N the number of grid points that hold the composed loss; O(grid) of
// one mechanism where many smooth losses are composed.
func (d *Distribution) Delta(ctx context.Context, epsilon float64) (Bounds, error) {
	if err := checkComposedEpsilon(epsilon); err != nil {
		return Bounds{}, err
	}
	upper, lower := d.sides()
	var lo, hi float64
	err := inParallel(func() (err error) {
		_, hi, err = upper.deltaAt(ctx, epsilon-upper.shift())
		return err
	}, func() (err error) {
		lo, _, err = lower.deltaAt(ctx, epsilon+lower.shift())
		return err
	})
	if err != nil {
		return Bounds{}, fmt.Errorf("compose: %w", err)
	}
	return Bounds{math.Min(lo, hi), hi}, nil
}

// Epsilon returns bounds on the smallest ε for which the composition is
// (ε, delta)-differentially private. delta must be in (0, 1) and above Infinite(). It ends with
// the error of ctx once that is done.
//
// Cost: at most O(N log N), N the number of grid points that hold the composed loss; O(grid) of
// one mechanism where many smooth losses are composed.
func (d *Distribution) Epsilon(ctx context.Context, delta float64) (Bounds, error) {
	upper, lower, err := d.sidesAt(delta)
	if err != nil {
		return Bounds{}, err
	}
	var hi float64
	var below *window
	err = inParallel(func() (err error) {
		hi, err = upper.epsilonAbove(ctx, delta)
		return err
	}, func() (err error) {
		below, err = lower.windowFor(ctx, delta)
		return err
	})
	if err != nil {
		return Bounds{}, fmt.Errorf("compose: %w", err)
	}
	lo, err := below.epsilonBelow(ctx, delta, hi)
	if err != nil {
		return Bounds{}, fmt.Errorf("compose: %w", err)
	}
	lo = math.Max(0, lo-lower.shift())
	hi = upper.shifted(hi)
	return Bounds{math.Min(lo, hi), hi}, nil
}

// UpperEpsilon returns the upper bound of Epsilon alone, which is the guarantee, for half of the work.
func (d *Distribution) UpperEpsilon(ctx context.Context, delta float64) (float64, error) {
	upper, _, err := d.sidesAt(delta)
	if err != nil {
		return 0, err
	}
	hi, err := upper.epsilonAbove(ctx, delta)
	if err != nil {
		return 0, fmt.Errorf("compose: %w", err)
	}
	return upper.shifted(hi), nil
}

// sidesAt is sides for a delta that can be had.
func (d *Distribution) sidesAt(delta float64) (upper, lower sums, err error) {
	if !(delta > 0 && delta < 1) {
		return sums{}, sums{}, invalidComposition("delta", delta, "must be in (0, 1)")
	}
	upper, lower = d.sides()
	if infinite := upper.infinite(); !(delta > infinite) {
		return sums{}, sums{}, invalidComposition("delta", delta, "must be above %v, the probability of an infinite loss", infinite)
	}
	return upper, lower, nil
}

// shifted is an ε of sums that are off the grid, 0 stays.
func (s sums) shifted(epsilon float64) float64 {
	if epsilon > 0 {
		epsilon += s.shift()
	}
	return epsilon
}

// inParallel does both and returns the first error. The two sides of a distribution share nothing.
func inParallel(upper, lower func() error) error {
	var group errgroup.Group
	group.Go(upper)
	group.Go(lower)
	return group.Wait()
}

// Infinite returns an upper bound on the probability of an infinite loss, below which no δ
// can be had: tails that were cut off and failures of approximate mechanisms.
func (d *Distribution) Infinite() float64 {
	upper, _ := d.sides()
	return upper.infinite()
}

// deltaAt returns bounds on the δ of s. The tilt has its mean at epsilon, where the
// tail that δ measures is not small.
func (s sums) deltaAt(ctx context.Context, epsilon float64) (lo, hi float64, err error) {
	theta, err := s.tilt(ctx, func(_, mean, _ float64) bool { return mean < epsilon })
	if err != nil {
		return 0, 0, err
	}
	_, mean, _ := s.cumulant(theta)
	w, err := s.convolve(ctx, theta, mean)
	if err != nil {
		return 0, 0, err
	}
	lo, hi = w.delta(epsilon)
	return lo, hi, nil
}

// delta adds infinite losses to the divergence. Beyond the largest sum nothing is finite.
func (w *window) delta(epsilon float64) (lo, hi float64) {
	infinite := w.infinite()
	if epsilon < float64(w.largest())*w.step {
		lo, hi = w.divergence(epsilon)
	}
	// The masses hold the finite losses only, so that they need no factor 1 − infinite.
	return math.Min(1, lo+infinite*(1-64*ulp)), math.Min(1, (hi+infinite)*(1+4*ulp))
}

// windowFor returns a window for the ε of one δ. Its errors matter least where the Chernoff
// bound e^{K(theta) − theta·ε} on δ equals delta, or where the tilted mean is next to the
// largest sum, if that alone is more likely than delta.
func (s sums) windowFor(ctx context.Context, delta float64) (*window, error) {
	top := (float64(s.largest()) - 0.5) * s.step
	theta, err := s.tilt(ctx, func(value, mean, theta float64) bool {
		return value-theta*mean > math.Log(delta) && mean < top
	})
	if err != nil {
		return nil, err
	}
	_, mean, _ := s.cumulant(theta)
	return s.convolve(ctx, theta, mean)
}

// epsilonAbove returns an ε at which the δ of s is certainly at most delta, the smallest one up
// to epsilonTolerance: the upper bound on δ falls as ε grows.
func (s sums) epsilonAbove(ctx context.Context, delta float64) (float64, error) {
	w, err := s.windowFor(ctx, delta)
	if err != nil {
		return 0, err
	}
	large := func(epsilon float64) bool {
		_, hi := w.delta(epsilon)
		return hi > delta
	}
	if !large(0) {
		return 0, nil
	}
	_, hi, err := bisect(ctx, large, 0, float64(w.largest())*w.step)
	return hi, err
}

// epsilonBelow returns an ε <= above at which the δ of s is certainly more than delta, or 0 if none
// is found. Far below the mean of the tilt the lower bound on δ is useless, so the
// search starts from above.
func (w *window) epsilonBelow(ctx context.Context, delta, above float64) (float64, error) {
	large := func(epsilon float64) bool {
		lo, _ := w.delta(epsilon)
		return lo > delta
	}
	back := w.step / 64
	for !large(above - back) {
		if err := ctx.Err(); err != nil || back >= above {
			return 0, err
		}
		back = math.Min(2*back, above)
	}
	lo, _, err := bisect(ctx, large, above-back, above)
	return lo, err
}

// bisect narrows a bracket in which large is true at lo and false at hi.
func bisect(ctx context.Context, large func(float64) bool, lo, hi float64) (float64, float64, error) {
	for hi-lo > epsilonTolerance*hi {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if large(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi, nil
}

// epsilonTolerance is the relative width of the final bracket of bisect.
const epsilonTolerance = 1e-12
