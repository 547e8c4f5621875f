package compose

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Basic returns the budget of k mechanisms that are (epsilon, delta)-differentially
// private each: k·epsilon and k·delta, rounded up (Dwork, Kenthapadi, McSherry, Mironov and
// Naor, EUROCRYPT 2006). epsilon finite and >= 0, delta in [0, 1], k >= 1. Cost: O(1).
func Basic(epsilon, delta float64, k int) (totalEpsilon, totalDelta float64, err error) {
	if err := checkEach(epsilon, delta, k); err != nil {
		return 0, 0, err
	}
	return up(float64(k) * epsilon), math.Min(1, up(float64(k)*delta)), nil
}

// Advanced returns the budget of k mechanisms that are (epsilon, delta)-differentially
// private each: epsilon·√(2k·log(1/slack)) + k·epsilon·(e^epsilon − 1) and k·delta + slack,
// rounded up (Dwork, Rothblum and Vadhan, FOCS 2010, Theorem III.3). slack in (0, 1).
// The optimal bound for the same data is compose.Homogeneous. Cost: O(1).
func Advanced(epsilon, delta, slack float64, k int) (totalEpsilon, totalDelta float64, err error) {
	if err := checkEach(epsilon, delta, k); err != nil {
		return 0, 0, err
	}
	if !(slack > 0 && slack < 1) {
		return 0, 0, fmt.Errorf("compose: %w", fl.Invalid("slack", slack, "must be in (0, 1)"))
	}
	n := float64(k)
	total := epsilon*math.Sqrt(-2*n*math.Log(slack)) + n*epsilon*math.Expm1(epsilon)
	return up(total), math.Min(1, up(n*delta+slack)), nil
}

func checkEach(epsilon, delta float64, k int) error {
	switch {
	case !(epsilon >= 0 && !math.IsInf(epsilon, 1)):
		return fmt.Errorf("compose: %w", fl.Invalid("epsilon", epsilon, "must be finite and >= 0"))
	case !(delta >= 0 && delta <= 1):
		return fmt.Errorf("compose: %w", fl.Invalid("delta", delta, "must be in [0, 1]"))
	case k < 1 || k > MaxCount:
		return fmt.Errorf("compose: %w", fl.Invalid("k", k, "must be in [1, %d]", MaxCount))
	}
	return nil
}

// up covers the rounding of a few operations.
func up(x float64) float64 { return x * (1 + 16*ulp) }
