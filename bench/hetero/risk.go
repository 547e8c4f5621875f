package hetero

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// PACFactor returns L = ln(k/β), by which the noise counts when the error is to
// stay below the risk with probability 1−β. The number k of categories is 1 for
// a mean; β is in (0, 1).
func PACFactor(categories int, beta float64) (float64, error) {
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	if math.IsNaN(beta) || beta <= 0 || beta >= 1 {
		return 0, fmt.Errorf("hetero: %w", fl.Invalid("beta", beta, "must be in (0, 1)"))
	}
	return math.Log(float64(categories)) - math.Log(beta), nil
}

// MSEFactor returns L for the mean squared error (of the largest deviation, for
// a histogram): ln k for k ≥ 2 categories, and 1 for a mean, k = 1.
func MSEFactor(categories int) (float64, error) {
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	if categories == 1 {
		return 1, nil
	}
	return math.Log(float64(categories)), nil
}

// maxFactor bounds L, so that squares stay finite.
const maxFactor = 1e9

func checkFactor(name string, factor, most float64) error {
	if math.IsNaN(factor) || factor < 0 || factor > most {
		return fl.Invalid(name, factor, "must be in [0, %g]", most)
	}
	return nil
}

// CorrelatedRisk returns r_C, up to a constant the error of the weights in the
// worst case over all data: with v = ‖w/ε‖_∞,
//
//	r_C² = ‖w − 1/n‖₁² + L²·v²
//
// in units of the values. See [PACFactor] and [MSEFactor] for L. O(n).
func CorrelatedRisk(eps []float64, w Weights, l float64) (float64, error) {
	if err := checkRisk(eps, w, l); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	return math.Hypot(w.bias(), l*w.noiseScale(eps)), nil
}

// UncorrelatedRisk returns r_U, the same when the demands are independent of the
// data, so that unequal weights act like a smaller sample:
//
//	r_U² = min(‖w − 1/n‖₁², L·‖w‖₂²) + L²·v²
//
// O(n).
func UncorrelatedRisk(eps []float64, w Weights, l float64) (float64, error) {
	if err := checkRisk(eps, w, l); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	return w.uncorrelatedRisk(eps, l), nil
}

func checkRisk(eps []float64, w Weights, l float64) error {
	if err := checkDemands(eps); err != nil {
		return err
	}
	if err := w.check(len(eps)); err != nil {
		return err
	}
	return checkFactor("l", l, maxFactor)
}

func (w Weights) uncorrelatedRisk(eps []float64, l float64) float64 {
	return math.Hypot(min(w.bias(), math.Sqrt(l)*floats.Norm(w, 2)), l*w.noiseScale(eps))
}

// bias returns ‖w − 1/n‖₁.
func (w Weights) bias() float64 {
	share, sum := 1/float64(len(w)), 0.
	for _, x := range w {
		sum += math.Abs(x - share)
	}
	return sum
}

// noiseScale returns ‖w/ε‖_∞. Public data needs no noise.
func (w Weights) noiseScale(eps []float64) float64 {
	scale := 0.
	for i, x := range w {
		scale = max(scale, x/eps[i])
	}
	return scale
}

// The published risks r_C and r_U are right up to a constant. The bounds of the ℓ∞
// error of a histogram behind them have constants of their own, which shift the
// balance of bias and noise. With v = ‖w/ε‖_∞ and B = ‖w − 1/n‖₁:
//
// Noise. Replacing a value changes two frequencies, so that each has Laplace noise
// of scale 2v. The largest of k is below 2v·ln(k/β) with probability 1−β, and its
// mean square is (2v)²·m, where m = H_k² + Σ 1/j², j ≤ k, is the mean square of the
// largest of k exponential variables.
//
// Correlated. The frequency of any set of clients is off by ½B at most: the weights
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

// HistogramPACFactor returns the factor for [Correlated] with which its risk is
// proportional to a proved bound of the largest error of a histogram of k categories
// that fails with probability β: 4·ln(k/β), where the published one is ln(k/β).
func HistogramPACFactor(categories int, beta float64) (float64, error) {
	l, err := PACFactor(categories, beta)
	return 4 * l, err
}

// HistogramMSEFactor is HistogramPACFactor for the mean square of the largest error.
func HistogramMSEFactor(categories int) (float64, error) {
	m, err := largestSquare(categories)
	return 4 * math.Sqrt(m), err
}

// HistogramPACNoise returns the factor for [Turbo] with which it minimises a proved bound
// of the largest error of a histogram of k categories that fails with probability β,
// when demands do not depend on the values.
func HistogramPACNoise(categories int, beta float64) (float64, error) {
	noise, err := PACFactor(categories, beta/2)
	if err != nil {
		return 0, err
	}
	deviation, err := PACFactor(categories, beta/4)
	return 8 * noise * noise / deviation, err
}

// HistogramMSENoise is HistogramPACNoise for the mean square of the largest error.
func HistogramMSENoise(categories int) (float64, error) {
	m, err := largestSquare(categories)
	return 4 * m, err
}

// largestSquare is the mean square of the largest of k exponential variables of
// mean 1: it is a sum of independent ones of means 1/j, j ≤ k.
func largestSquare(categories int) (float64, error) {
	if err := checkCategoryCount(categories, 1); err != nil {
		return 0, fmt.Errorf("hetero: %w", err)
	}
	mean, variance := 0., 0.
	for j := 1; j <= categories; j++ {
		mean += 1 / float64(j)
		variance += 1 / float64(j) / float64(j)
	}
	return mean*mean + variance, nil
}
