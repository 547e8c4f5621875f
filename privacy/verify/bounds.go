package verify

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// lowerP returns a lower bound of a probability at confidence 1 − alpha, from k hits
// in n trials (Clopper, Pearson 1934): the p with P[Bin(n, p) ≥ k] = alpha, rounded
// down. O(60) incomplete beta functions.
func lowerP(k, n int, alpha float64) float64 {
	if k == 0 {
		return 0
	}
	// P[Bin(n, p) ≥ k] = I_p(k, n−k+1) grows with p. The bisection keeps the invariant
	// that it is below alpha at low, by a margin far above the error of I.
	low, high := 0.0, float64(k)/float64(n)
	for range 60 {
		mid := (low + high) / 2
		if mathext.RegIncBeta(float64(k), float64(n-k)+1, mid) < alpha*(1-1e-6) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// upperP returns an upper bound at confidence 1 − alpha, rounded up.
func upperP(k, n int, alpha float64) float64 { return 1 - lowerP(n-k, n, alpha) }

// epsilonBound is the lower bound of ε from an event with k of n hits under one input
// and other of n under its neighbour, at confidence 1 − 2·alpha. -Inf when there is
// none.
func epsilonBound(k, other, n int, delta, alpha float64) (epsilon, lower, upper float64) {
	lower, upper = lowerP(k, n, alpha), upperP(other, n, alpha)
	if lower <= delta {
		return math.Inf(-1), lower, upper
	}
	return math.Log((lower - delta) / upper), lower, upper
}
