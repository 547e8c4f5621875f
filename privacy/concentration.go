package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/root"
)

// blanketLosses is what the concentration bounds of Balle, Bell, Gascón and Nissim, "The
// Privacy Blanket of the Shuffle Model", CRYPTO 2019, know of a randomizer. A
// blanket report has probability γ. Its loss L is the ratio of the densities of the reports
// of x and of q times the reports of x' to the blanket; E[L] = 1 − q, and
//
//	δ(ε_c) <= (1/(γn))·E[(L_1 + ... + L_N)_+],   N ~ Binomial(n, γ).
type blanketLosses struct {
	epsilon float64
	gamma   float64
	// At q = e^{ε_c}: the largest loss, the largest minus the smallest, and a bound on E[L²].
	at func(q float64) (largest, spread, square float64)
}

// genericLosses holds for every ε-LDP randomizer: γ >= e^{-ε}, and where a
// larger γ makes a quantity larger it is taken as 1.
func genericLosses(epsilon float64) blanketLosses {
	e, gamma := math.Exp(epsilon), math.Exp(-epsilon)
	return blanketLosses{epsilon, gamma, func(q float64) (largest, spread, square float64) {
		return e - q/e, (q + 1) * (e - 1/e), e*(q*q+1) - 2*gamma*q/(e*e)
	}}
}

// slottedLosses holds for the mechanisms of Blanket: L = γ·(W − q·W') with γ = t/Ω, and by
// the majorisation of the package documentation E[L²] is largest if x and x' mark
// different slots (the same slots as few as possible if t < 2s).
func slottedLosses(epsilon float64, sparsity, slots int) blanketLosses {
	e, s, t := math.Exp(epsilon), float64(sparsity), float64(slots)
	gamma := t / (s*math.Expm1(epsilon) + t)
	pairs, middle, weight := math.Min(s, t-s), math.Abs(t-2*s), 1.0
	if t < 2*s {
		weight = e
	}
	return blanketLosses{epsilon, gamma, func(q float64) (largest, spread, square float64) {
		favour, against, neutral := e-q, e*q-1, weight*(q-1)
		sum := pairs*(favour*favour+against*against) + middle*neutral*neutral
		return gamma * favour, gamma * (favour + against), gamma * gamma * sum / t
	}}
}

// hoeffding bounds the expectation by Hoeffding's inequality: given N = m >= 1 it is at most
// (b²/4a)·e^{−2ma²/b²}, a = q − 1, b the spread; the mean over N is in closed form.
func hoeffding(name string, l blanketLosses) Comparison {
	return l.comparison(name, func(n int, epsilonCentral float64) float64 {
		a := math.Expm1(epsilonCentral)
		_, b, _ := l.at(1 + a)
		return math.Log(b*b/(4*a)) + l.logMean(n, 2*a*a/(b*b))
	})
}

// bennett bounds it by Bennett's inequality: given N = m >= 1 it is at most
// (b/log(1+u))·e^{−m(c/b²)φ(u)}, b the largest loss, c = E[L²], u = ab/c and
// φ(u) = (1+u)·log(1+u) − u.
func bennett(name string, l blanketLosses) Comparison {
	return l.comparison(name, func(n int, epsilonCentral float64) float64 {
		a := math.Expm1(epsilonCentral)
		b, _, c := l.at(1 + a)
		u := a * b / c
		return math.Log(b/math.Log1p(u)) + l.logMean(n, c/(b*b)*bennettPhi(u))
	})
}

// bennettPhi returns (1+u)·log(1+u) − u for u >= 0 to eight digits and more. For small u the
// difference cancels and its series u²/2 − u³/6 + ... takes over.
func bennettPhi(u float64) float64 {
	if u < 1e-4 {
		return u * u * (0.5 - u/6)
	}
	return (1+u)*math.Log1p(u) - u
}

// logMean returns log((1/(γn))·E[e^{−κN}; N >= 1]), N ~ Binomial(n, γ), or slightly more:
// the term N = 0 is kept.
func (l blanketLosses) logMean(n int, kappa float64) float64 {
	return float64(n)*math.Log1p(l.gamma*math.Expm1(-kappa)) - math.Log(l.gamma*float64(n))
}

// comparison is the curve of a bound logDelta on log δ, which falls with the central ε.
func (l blanketLosses) comparison(name string, logDelta func(n int, epsilonCentral float64) float64) Comparison {
	return newComparison(name, "Balle, Bell, Gascón and Nissim, CRYPTO 2019", Proved,
		func(n int, delta float64) (float64, error) {
			excess := func(epsilonCentral float64) float64 {
				return logDelta(n, epsilonCentral) - math.Log(delta)
			}
			// At 0 the inequalities say nothing; at the local epsilon δ = 0 whatever they say.
			return root.Solve(excess, 0, l.epsilon, math.Inf(1), math.Inf(-1)), nil
		})
}
