package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/root"
)

// EpsilonAt returns the smallest ε for which every such composition is
// (ε, delta)-differentially private, rounded up by at most 10^-10 of it: DeltaAt there is
// at most delta. delta must be in [0, 1), and no less than 1 − (1 − Delta)^Count, the
// probability that some mechanism fails outright.
//
// Cost: some tens of evaluations of DeltaAt.
func (h Homogeneous) EpsilonAt(delta float64) (float64, error) {
	if err := h.check(); err != nil {
		return 0, err
	}
	if !(delta >= 0 && delta < 1) {
		return 0, invalidComposition("delta", delta, "must be in [0, 1)")
	}
	if failure := h.failure(); failure > delta {
		return 0, invalidComposition("delta", delta, "must be at least 1 - (1 - %v)^%d = %v", h.Delta, h.Count, failure)
	}
	// BasicComposition composition: from here on nothing but outright failures is left.
	basic := productUp(h.Epsilon, h.Count)
	excess := func(epsilon float64) float64 { return h.excess(epsilon, delta) }
	atZero := excess(0)
	switch {
	case atZero <= 0:
		return 0, nil
	case delta == 0:
		return basic, nil
	}
	return root.Solve(excess, 0, basic, atZero, excess(basic)), nil
}

// PerMechanism returns the largest ε' for which every adaptive composition of count
// mechanisms, each (ε', deltaEach)-differentially private, is (epsilon, delta)-private,
// rounded down by at most 10^-10 of it. It is never below epsilon/count, up to that
// rounding, and never above 20, the limit of Homogeneous.
//
// epsilon must be finite and positive, delta in (0, 1), deltaEach in [0, 1), count in
// [1, 10^7], and 1 − (1 − deltaEach)^count, the probability that some mechanism fails
// outright, below delta.
//
// Cost: some tens of evaluations of Homogeneous.DeltaAt.
func PerMechanism(epsilon, delta, deltaEach float64, count int) (float64, error) {
	if !(epsilon > 0) || math.IsInf(epsilon, 1) {
		return 0, invalidComposition("epsilon", epsilon, "must be finite and positive")
	}
	if !(delta > 0 && delta < 1) {
		return 0, invalidComposition("delta", delta, "must be in (0, 1)")
	}
	h := Homogeneous{Delta: deltaEach, Count: count}
	if err := h.check(); err != nil {
		return 0, err
	}
	if failure := h.failure(); failure >= delta {
		return 0, invalidComposition("delta", delta, "must be above 1 - (1 - %v)^%d = %v", deltaEach, count, failure)
	}
	// In terms of 1/ε' the excess falls, as root.Solve needs it.
	excess := func(inverse float64) float64 {
		h.Epsilon = 1 / inverse
		return h.excess(epsilon, delta)
	}
	safe := float64(count) / epsilon * (1 + 0x1p-50) // basic composition
	if safe <= 1/maxEach {
		return maxEach, nil
	}
	atSafe := excess(safe)
	for {
		unsafe := math.Max(safe/2, 1/maxEach)
		at := excess(unsafe)
		if at > 0 {
			return 1 / root.Solve(excess, unsafe, safe, at, atSafe), nil
		}
		if unsafe == 1/maxEach {
			return maxEach, nil
		}
		safe, atSafe = unsafe, at
	}
}

// excess returns log(DeltaAt(epsilon)/delta), with the exact sign of the difference.
func (h Homogeneous) excess(epsilon, delta float64) float64 {
	return math.Log1p((h.deltaAt(epsilon) - delta) / delta)
}
