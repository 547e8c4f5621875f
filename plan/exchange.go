package plan

import (
	"math"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/fl"
)

// weight is what one report reveals behind a shuffler, as one number W. For a mechanism with t
// slots, s of them likely:
//
//	W = min(s, t−s)·(e^ε − 1)²/Ω,   Ω = s·e^ε + t − s.
//
// Of n messages of the blanket of such a mechanism (package privacy) about nα favour the
// client's input and as many its alternative, α = min(s, t−s)/Ω. Its δ at a central ε is 1/n of
// the mean positive part of a sum. For q = e^(central ε) near 1 that sum is nearly normal with
// the mean −n(q−1) and the variance 2nα(e^ε−1)² = 2nW. Gaussian noise, in which a client moves a
// sum by μ standard deviations, has the same δ if μ² = 2W/n. Such costs add up as squares: k
// reports cost μ² = 2kW/n.
//
// This is a limit for many reports. What the planner promises is composed exactly: weights
// choose the number of slots and begin the search for ε.
func weight(likely, slots int, epsilon float64) float64 {
	x := math.Expm1(epsilon)
	l, t := float64(likely), float64(slots)
	return min(l, t-l) * x * x / (l*x + t)
}

// epsilonOf returns the ε at which a mechanism has a weight, at most fl.MaxEpsilon: the root of
// min(s, t−s)·x² = W·(s·x + t) in x = e^ε − 1.
func epsilonOf(likely, slots int, weight float64) float64 {
	l, t := float64(likely), float64(slots)
	pairs := min(l, t-l)
	b := weight * l / (2 * pairs)
	return min(fl.MaxEpsilon, math.Log1p(b+math.Sqrt(b*b+weight*t/pairs)))
}

// growth returns the weight's growth as a power of ε: the exponent.
func growth(likely, slots int, epsilon float64) float64 {
	x := math.Expm1(epsilon)
	l, t := float64(likely), float64(slots)
	return epsilon * (x + 1) * (2/x - l/(l*x+t))
}

// weightWithin returns the weight of a report whose client spends a central (ε, δ) on k of
// them in cohorts of n, in the limit. It is the calibration of Gaussian noise for a sum.
func weightWithin(epsilon, delta float64, n, k int) float64 {
	const leastEpsilon, leastDelta = 1e-9, 1e-300 // of the calibration; a limit is no promise
	sigma, err := baseline.GaussianSigma(max(epsilon, leastEpsilon), max(delta, leastDelta), 1)
	if err != nil {
		return 0
	}
	return float64(n) / (2 * float64(k) * sigma * sigma)
}
