package privacy

import (
	"fmt"
	"math"
	"math/big"
)

// BasicComposition returns the budget of k mechanisms that are (epsilon, delta)-differentially
// private each: k·epsilon and k·delta (Dwork, Kenthapadi, McSherry, Mironov and
// Naor, EUROCRYPT 2006). Both are the exact products, rounded up once, and the second is at
// most 1. epsilon is finite and >= 0, delta in [0, 1], k in [1, MaxCount].
// [SumUp] does the same for mechanisms with different budgets. Cost: O(1).
func BasicComposition(epsilon, delta float64, k int) (totalEpsilon, totalDelta float64, err error) {
	if err := checkEach(epsilon, delta, k); err != nil {
		return 0, 0, err
	}
	return productUp(epsilon, k), math.Min(1, productUp(delta, k)), nil
}

// SumUp returns the sum of values, each finite and >= 0. The sum is exact and rounded up
// once. It is basic composition of mechanisms with different budgets: call it for their ε
// and for their δ. Cost: O(len(values)).
func SumUp(values []float64) (float64, error) {
	// From 2^-1074, the smallest positive float64, to 2^1024 times any number of values.
	exact := new(big.Float).SetPrec(1074 + 1024 + 64)
	var v big.Float
	for i, value := range values {
		if !(value >= 0 && !math.IsInf(value, 1)) {
			return 0, invalidComposition(fmt.Sprintf("values[%d]", i), value, "must be finite and >= 0")
		}
		exact.Add(exact, v.SetFloat64(value))
	}
	sum, side := exact.Float64()
	if side == big.Below {
		return math.Nextafter(sum, math.Inf(1)), nil
	}
	return sum, nil
}

// AdvancedComposition returns the budget of k mechanisms that are (epsilon, delta)-differentially
// private each: epsilon·√(2k·log(1/slack)) + k·epsilon·(e^epsilon − 1) and k·delta + slack
// (Dwork, Rothblum and Vadhan, FOCS 2010, Theorem III.3). Both are rounded up. slack is in
// (0, 1), the other parameters are Basic's. The bound is a textbook's: [Homogeneous]
// is optimal for the same data. Cost: O(1).
func AdvancedComposition(epsilon, delta, slack float64, k int) (totalEpsilon, totalDelta float64, err error) {
	if err := checkEach(epsilon, delta, k); err != nil {
		return 0, 0, err
	}
	if !(slack > 0 && slack < 1) {
		return 0, 0, invalidComposition("slack", slack, "must be in (0, 1)")
	}
	n := float64(k)
	total := epsilon*math.Sqrt(-2*n*math.Log(slack)) + n*epsilon*math.Expm1(epsilon)
	return up(total), math.Min(1, up(n*delta+slack)), nil
}

func checkEach(epsilon, delta float64, k int) error {
	if err := checkComposedEpsilon(epsilon); err != nil {
		return err
	}
	if !(delta >= 0 && delta <= 1) {
		return invalidComposition("delta", delta, "must be in [0, 1]")
	}
	return checkCount("k", k)
}

// productUp returns x·n, rounded up once: SumUp of n equal values.
func productUp(x float64, n int) float64 {
	product := x * float64(n)
	if math.FMA(x, float64(n), -product) > 0 {
		return math.Nextafter(product, math.Inf(1))
	}
	return product
}

// up covers the rounding of a few operations.
func up(x float64) float64 { return x * (1 + 16*ulp) }
