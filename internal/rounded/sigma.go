package rounded

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Sigma returns the smallest standard deviation, rounded up by at most 10^-11 of itself,
// with which Gaussian noise on a query of the given L2 sensitivity is (epsilon, delta)-
// differentially private: Balle and Wang, Improving the Gaussian Mechanism for
// Differential Privacy: Analytical Calibration and Optimal Denoising, ICML 2018, Theorem 8. With μ =
// sensitivity/σ it is so if and only if
//
//	Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) ≤ δ.
//
// epsilon is in [10^-9, 100], delta in [10^-300, 1) and sensitivity finite and positive; the
// error otherwise is a *fl.ParamError.
func Sigma(epsilon, delta, sensitivity float64) (float64, error) {
	switch {
	case !(epsilon >= 1e-9 && epsilon <= 100):
		return 0, fl.Invalid("epsilon", epsilon, "must be in [1e-9, 100]")
	case !(delta >= 1e-300 && delta < 1):
		return 0, fl.Invalid("delta", delta, "must be in [1e-300, 1)")
	case !(sensitivity > 0) || math.IsInf(sensitivity, 1):
		return 0, fl.Invalid("sensitivity", sensitivity, "must be finite and > 0")
	}
	lo, hi := 1., 1.
	for curve(epsilon, lo) > delta {
		lo /= 2
	}
	for curve(epsilon, hi) <= delta {
		hi *= 2
	}
	for hi-lo > 1e-12*lo {
		if mid := lo + (hi-lo)/2; curve(epsilon, mid) <= delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return sensitivity / lo * (1 + 0x1p-51), nil
}

// curve returns the left side of the condition, or a little more. Erfc has a relative error
// below 2 units in the last place, and rounding its argument x costs another
// 4x² of them; the second term is never above the first.
func curve(epsilon, mu float64) float64 {
	a, b := epsilon/mu-mu/2, epsilon/mu+mu/2
	near, far := math.Erfc(a/math.Sqrt2)/2, math.Erfc(b/math.Sqrt2)/2
	const unit = 0x1p-52
	return math.Max(0, near-math.Exp(epsilon)*far) + 32*unit*(1+b*b)*near
}
