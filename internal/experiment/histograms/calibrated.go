package histograms

import (
	"math"

	"github.com/hushgrad/hushgrad/hetero"
)

// The published risks r_C and r_U are right up to a constant. The bounds of the ℓ∞
// error of a histogram behind them have constants of their own, which shift the
// balance of bias and noise. With v = ‖w/ε‖_∞ and B = ‖w − 1/n‖₁:
//
// Noise. Replacing a value changes two frequencies, so that each has Laplace noise
// of scale 2v. The largest of k is below 2v·ln(k/β) with probability 1−β, and its
// mean square is (2v)²·m, where m = H_k² + Σ 1/j², j ≤ k, is that of the largest of
// k exponential variables.
//
// Correlated. The frequency of any set of users is off by ½B at most: the weights
// above 1/n gain what the others lose. So error² ≤ 2·((½B)² + (2Lv)²), which is
// proportional to B² + (4L)²·v², with L = ln(k/β) or √m: the published risk with 4L
// for L.
//
// Uncorrelated. Values in random order are negatively associated (Joag-Dev,
// Proschan, Negative Association of Random Variables, Ann. Statist. 1983), so that
// Hoeffding's inequality bounds all k deviations by √(½·ln(4k/β))·‖w‖₂ with
// probability 1−β/2; the sum of their mean squares is at most ‖w − 1/n‖₂² = ‖w‖₂² −
// 1/n for k ≤ n. So the factor of v², for 1 of ‖w‖₂², is 8·ln²(2k/β)/ln(4k/β) or 4m
// where the published one is L.

// calibratedCorrelated is C with the constants of the bound.
func calibratedCorrelated(l func(categories int) (float64, error)) weigher {
	return optimal(hetero.Correlated, func(categories int) (float64, error) {
		own, err := l(categories)
		return 4 * own, err
	})
}

// calibratedUncorrelated is U, by its surrogate T, with the constants of the bound.
func calibratedUncorrelated(noise func(categories int) (float64, error)) weigher {
	return optimal(hetero.Turbo, noise)
}

// pacNoise is the factor of v² for the calibrated U.
func pacNoise(categories int) (float64, error) {
	noise, err := hetero.PACFactor(categories, failure/2)
	if err != nil {
		return 0, err
	}
	deviation, err := hetero.PACFactor(categories, failure/4)
	return 8 * noise * noise / deviation, err
}

// mseNoise is the same for the mean squared error.
func mseNoise(categories int) (float64, error) {
	return 4 * largestSquare(categories), nil
}

func rootLargestSquare(categories int) (float64, error) {
	return math.Sqrt(largestSquare(categories)), nil
}

// largestSquare is the mean square of the largest of k exponential variables of
// mean 1: it is a sum of independent ones of means 1/j, j ≤ k.
func largestSquare(categories int) float64 {
	mean, variance := 0., 0.
	for j := 1; j <= categories; j++ {
		mean += 1 / float64(j)
		variance += 1 / float64(j*j)
	}
	return mean*mean + variance
}
