package sample

import "math"

// The logarithm of a Poisson or negative binomial probability is a small
// difference of large numbers when it is written with lgamma. In the form of
// Loader, Fast and Accurate Computation of Binomial Probabilities, 2000, it is
// a sum of small ones: deviances from the mean and errors of Stirling's formula.

// deviance returns x·ln(x/m) + m − x ≥ 0 for x ≥ 0, m > 0 and d = x − m, which
// the caller knows to more digits than the subtraction would leave.
func deviance(x, m, d float64) float64 {
	if x == 0 {
		return m
	}
	v := d / (x + m)
	if math.Abs(v) >= 0.1 {
		return x*math.Log(x/m) - d
	}
	// x·ln(x/m) = 2x·artanh(v). The first term of its series is d + v·d.
	sum, term := d*v, 2*x*v
	for j := 3.0; ; j += 2 {
		term *= v * v
		next := sum + term/j
		if next == sum {
			return sum
		}
		sum = next
	}
}

// stirlingError returns ln Γ(x+1) − ½·ln(2πx) − x·ln x + x for x > 0.
func stirlingError(x float64) float64 {
	if x < 10 {
		lg, _ := math.Lgamma(x + 1)
		return lg - 0.5*math.Log(2*math.Pi*x) - x*math.Log(x) + x
	}
	// The series of Stirling; its first omitted term is below 10^−17 here.
	y := 1 / (x * x)
	return (1./12 - y*(1./360-y*(1./1260-y*(1./1680-y*(1./1188-y*(691./360360-y/156)))))) / x
}

// log1mexp returns ln(1 − e^−x) for x > 0.
func log1mexp(x float64) float64 {
	if x < math.Ln2 {
		return math.Log(-math.Expm1(-x))
	}
	return math.Log1p(-math.Exp(-x))
}
