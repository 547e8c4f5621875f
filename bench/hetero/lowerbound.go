package hetero

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Both lower bounds come from k data sets that differ in the values of m clients: in the j-th
// these clients have the category j, and all others have the first one. Two of the histograms
// are m/n apart. For m > 2nR, estimates within R of two of them are never the same. So a
// mechanism that is within R with probability 1−β on every data set says which of them it has
// seen, and privacy limits how well that can be said (paper, Theorem C.3 and its proof). For a
// mean there are two data sets: the m clients have 0 or 1.
//
// The paper states the condition on m up to a constant. Here the constants are the proof's
// constants. Let m be the least number for which the condition holds. R below (m−1)/(2n) means
// ⌊2nR⌋ + 1 < m clients that contradict it. So no mechanism has R < (m−1)/(2n). As the constant
// ½ is within ½ of everything, R is at most ½.

// CorrelatedLowerBound returns a number R: no mechanism with these demands keeps the largest
// error below R with probability 1−β on every data set, when demands may depend on the data.
// The number k of categories is 1 for a mean, and β is in (0, ½). R is in [0, ½], in units of
// the values.
//
// The m most careful clients move from one data set to another. Under the j-th the estimate is
// near the i-th with probability (1−β)·e^−S at least, S = Σ ε over them, and near another one
// than the j-th with probability β at most: (k−1)·(1−β)·e^−S ≤ β. O(n log n).
func CorrelatedLowerBound(eps []float64, categories int, beta float64) (float64, error) {
	sets, err := dataSets(eps, categories, beta)
	if err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	need := math.Log((sets - 1) * (1 - beta) / beta)
	sum := 0.
	for i, e := range ascending(eps) {
		if sum += e; sum >= need*(1-roundingMargin) {
			return atMostHalf(i+1, len(eps)), nil
		}
	}
	return 0.5, nil
}

// exactSubsets is the largest m for which the mean over all subsets of m clients is computed.
const exactSubsets = 1 << 10

// UncorrelatedLowerBound is CorrelatedLowerBound for demands that do not depend on the data:
// the m clients are drawn at random, and probabilities are over the draw as well. With Z the
// sum of their ε, E[e^−Z] − β ≤ E[e^−Z·P] for the probability P of the right answer, which
// fails with probability β; so (k−1)·(E[e^−Z] − β) ≤ β. Also k·(1−β) ≤ E[e^Z].
//
// E[e^−Z] over subsets is exact up to m = 1024. Above, it is at least e^−m·ε̄ with the mean ε̄ of
// the demands (Jensen). E[e^Z] is at most the m-th power of the mean of e^ε (Hoeffding, JASA
// 1963, Theorem 4). O(n·min(m, 1024)).
func UncorrelatedLowerBound(eps []float64, categories int, beta float64) (float64, error) {
	sets, err := dataSets(eps, categories, beta)
	if err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	n := len(eps)
	most := sets * beta / (sets - 1)
	m := 1
	if growth := floats.LogSumExp(eps) - math.Log(float64(n)); growth > 0 && !math.IsInf(growth, 1) {
		m = least(math.Log(sets*(1-beta))/growth, n+1)
	}
	for size := 16; ; size *= 4 {
		size = min(size, n, exactSubsets)
		for i, mean := range subsetMeans(eps, size) {
			if mean <= most*(1+roundingMargin) {
				return atMostHalf(max(m, i+1), n), nil
			}
		}
		if size == n {
			return 0.5, nil
		}
		if size == exactSubsets {
			break
		}
	}
	return atMostHalf(max(m, exactSubsets+1, least(-math.Log(most)/(floats.SumCompensated(eps)/float64(n)), n+1)), n), nil
}

// dataSets checks the arguments of a lower bound and returns the number of data sets.
func dataSets(eps []float64, categories int, beta float64) (float64, error) {
	if err := checkDemands(eps); err != nil {
		return 0, err
	}
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, err
	}
	if math.IsNaN(beta) || beta <= 0 || beta >= 0.5 {
		return 0, fl.Invalid("beta", beta, "must be in (0, 0.5)")
	}
	return float64(max(categories, 2)), nil
}

// roundingMargin is above the relative rounding error of sums and products of up to 2^24 terms,
// so that m is not too large by rounding.
const roundingMargin = 1e-8

// least is the smallest whole number of clients that is not below x, at most limit.
func least(x float64, limit int) int {
	if !(x < float64(limit)) {
		return limit
	}
	return max(1, int(math.Ceil(x*(1-roundingMargin))))
}

// atMostHalf turns the least m that meets a condition into the bound.
func atMostHalf(m, n int) float64 { return min(0.5, float64(m-1)/(2*float64(n))) }

// subsetMeans returns the mean of e^−Z over all subsets of m = 1, …, size clients, Z the sum of
// their ε. A client is in a random subset of j of the first i with probability j/i. O(n·size).
func subsetMeans(eps []float64, size int) []float64 {
	means := make([]float64, size+1)
	means[0] = 1
	for i, e := range eps {
		x, all := math.Exp(-e), float64(i+1)
		for j := min(size, i+1); j > 0; j-- {
			in := float64(j) / all
			means[j] = means[j]*(1-in) + means[j-1]*x*in
		}
	}
	return means[1:]
}
