package sample

import (
	"fmt"
	"math"
	"testing"
)

// Computed independently by mpmath: sums of 50-digit probabilities and,
// for η below 1e−6, the continued fraction of Numerical Recipes with 60 digits.
func TestCDFDeepInTheTails(t *testing.T) {
	for _, c := range []struct {
		r, eta float64
		k      int64
		want   float64
	}{
		{2.5, 0.3, 0, 0.034198823638606799624},
		{2.5, 0.3, 4, 0.36384186601008968273},
		{2.5, 0.3, 40, 0.99986285544222665117},
		{88.0, 0.01, 10, 8.1739694397697536712e-164},
		{88.0, 0.01, 200, 4.3887762924005920087e-102},
		{88.0, 0.01, 2000, 1.969441536925251262e-28},
		{88.0, 0.01, 8800, 0.53299804720457540433},
		{88.0, 0.01, 20000, 0.99999999999999999986},
		{110.0, 0.0001, 20000, 1.5192344432808108843e-146},
		{110.0, 0.0001, 400000, 7.0960824428691300133e-20},
		{110.0, 0.0001, 1100000, 0.51289078564972143348},
		{1e-06, 0.001, 0, 0.99999309176862462479},
		{1e-06, 0.001, 1000, 0.99999978079971982677},
		{10000.0, 0.1, 90000, 1.1670781360954705574e-7},
		{0.5, 50, 0, 1.0},
		{0.5, 50, 1, 1.0},
		{1000000.0, 0.5, 1500000, 2.8161023644849559281e-99},
		{110.0, 0.0001, 1300000, 0.966677136188780062},
		{100.0, 1e-07, 1000000000, 0.51329899957717398291},
		{100.0, 1e-07, 1100000000, 0.84172144443067015168},
		{1000000.0, 1e-09, 1001000000000000, 0.84134490727319839107},
		{1000000.0, 1e-09, 990000000000000, 5.446672468582474022e-24},
	} {
		requireClose(t, fmt.Sprint(c), NegativeBinomial{c.r, c.eta}.CDF(c.k), c.want, 5e-12)
	}
}

func TestCDFIsTheSumOfProbabilities(t *testing.T) {
	for _, d := range []NegativeBinomial{{0.3, 0.2}, {2.5, 1}, {40, 0.3}, {1e-6, 0.5}, {3, 40}, {700, 0.9}} {
		sum := 0.
		for k, q := range d.probabilities(2000) {
			sum += q
			requireClose(t, fmt.Sprintf("%v at %d", d, k), d.CDF(int64(k)), sum, 1e-11)
		}
		if got := d.CDF(-1); got != 0 {
			t.Errorf("%v: CDF(-1) = %g", d, got)
		}
	}
}

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
