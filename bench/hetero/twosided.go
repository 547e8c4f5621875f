package hetero

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/fl"
)

// For ε ≤ 1 the paper bounds the error on both sides, up to constants, where demands do not depend
// on the data: it is at least ln(k/β)/‖ε‖₁, and at most that plus
// √(n²·Var(e^−ε) ∧ n·ln(k/β))/‖ε‖₁. The constants here come from these steps.
//
// Below. The conditions of UncorrelatedLowerBound on m follow from m·ε̄ ≥ ln((k−1)/(kβ)), by
// Jensen's inequality, and from m·(e−1)·ε̄ ≥ ln(k(1−β)), as the mean of e^ε is at most 1 + (e−1)·ε̄.
// Some m < x/ε̄ + 1 is thus too small a number, and (m−1)/(2n) is x/(2‖ε‖₁) − 1/(2n).
//
// Above. The weights of Saturating are x_i/Σx with x = 1 − e^−ε, and Σx ≥ (1 − 1/e)·‖ε‖₁. Their noise
// has the scale 2/Σx for a histogram and 1/Σx for a mean, and is below ln(2k/β) times as much
// with probability 1 − β/2. The data are off by ½·‖w − 1/n‖₁ ≤ ½·n·√Var(x)/Σx at most, and by
// √(½·ln(4k/β))·‖w‖₂ ≤ √(½·n·ln(4k/β))/Σx with probability 1 − β/2: see HistogramPACFactor.

// UncorrelatedBounds returns both sides of what can be reached with demands of at most 1 that do
// not depend on the data: no mechanism keeps the largest error below low with probability 1−β on
// every data set, and the weights of [Saturating] keep it below high. With c = 1 for a mean, k = 1,
// and c = 2 for a histogram,
//
//	low  = max(ln((k−1)/(kβ)), ln(k(1−β))/(e−1))/(2‖ε‖₁) − 1/(2n),
//	high = (c·ln(2k/β) + √(¼·n²·Var(e^−ε) ∧ ½·n·ln(4k/β)))/((1 − 1/e)·‖ε‖₁),
//
// where low has k = 2 for a mean. low is in [0, ½] and high in [0, 1], in units of the values, and β
// is in (0, ½). [UncorrelatedLowerBound] is at least low. O(n).
func UncorrelatedBounds(eps []float64, categories int, beta float64) (low, high float64, err error) {
	sets, err := dataSets(eps, categories, beta)
	if err != nil {
		return 0, 0, fmt.Errorf("hetero: %w", err)
	}
	strength := make([]float64, len(eps))
	for i, e := range eps {
		if e > 1 {
			return 0, 0, fmt.Errorf("hetero: %w", fl.Invalid(fmt.Sprintf("eps[%d]", i), e, "must be at most 1"))
		}
		strength[i] = -math.Expm1(-e)
	}
	n, k, sum := float64(len(eps)), float64(categories), floats.SumCompensated(eps)
	need := max(math.Log((sets-1)/(sets*beta)), math.Log(sets*(1-beta))/(math.E-1))
	low = max(0, min(0.5, (need/sum-1/n)/2))
	scale := 2.
	if categories == 1 {
		scale = 1
	}
	spread := math.Sqrt(min(n*n*stat.PopVariance(strength, nil)/4, n*math.Log(4*k/beta)/2))
	high = min(1, (scale*math.Log(2*k/beta)+spread)/(-math.Expm1(-1)*sum))
	return low, high, nil
}
