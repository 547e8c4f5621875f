package sample

import "math"

// CDF returns P[X ≤ k], the regularised incomplete beta function I_{1−p}(R, k+1),
// in the low tail with the relative error that LogProb has as its absolute one,
// down to the smallest float64. It costs O(√min(R, k)) terms of a continued fraction.
//
// The factor in front of the fraction is a probability of this distribution.
// Taken from LogProb it keeps the digits that lgamma would cancel: all of
// them at R = 1e6 and k = 1e15.
func (d NegativeBinomial) CDF(k int64) float64 {
	if k < 0 {
		return 0
	}
	x := float64(k)
	b := x + 1
	p, q := math.Exp(-d.Eta), -math.Expm1(-d.Eta)
	front := math.Exp(d.LogProb(k)-d.Eta) * (d.R + x) // (1−p)^R·p^b/B(R, b)
	excess := d.R*p - b*q
	if excess < 0 {
		return 1 - front*betaFraction(b, d.R, p, q, -excess)
	}
	return front * betaFraction(d.R, b, q, p, excess)
}

// betaFraction returns the continued fraction f of I_x(a, b) = x^a·y^b/B(a, b)·f
// for y = 1−x and excess = a·y − b·x ≥ 0. It is the one of Didonato and Morris,
// Significant Digit Computation of the Incomplete Beta Function Ratios, ACM
// Transactions on Mathematical Software 18(3), 1992, section 4, which keeps its
// digits for x close to 1, evaluated forwards by the method of Lentz.
func betaFraction(a, b, x, y, excess float64) float64 {
	f := (a + 1) / (a * (excess + 1))
	c, d := math.Inf(1), f
	for n := 1.; ; n++ {
		s := a + 2*n
		numerator := (a + n - 1) / (s - 1) * ((a + b + n - 1) / (s - 1)) * n * (b - n) * x * x
		term := n + n*(b-n)*x/(s-1) + (a+n)/(s+1)*(excess+1+n*(1+y))
		c = term + numerator/c
		d = 1 / (term + numerator*d)
		f *= c * d
		if !(math.Abs(c*d-1) > 0x1p-50) { // also stops at NaN
			return f
		}
	}
}
