package sample

import (
	"math"
	"math/rand/v2"
)

// NegativeBinomial is the negative binomial distribution of real shape R > 0
// and decay Eta > 0: with p = e^−Eta,
//
//	P[X = k] = Γ(k+R)/(Γ(R)·k!)·(1−p)^R·p^k,    k = 0, 1, 2, …
//
// It is infinitely divisible: n independent Share(n) variables sum to it.
// Ghazi, Kumar, Manurangsi, Pagh, Sinha, Differentially Private Aggregation in
// the Shuffle Model, ICML 2021, write it NB(r, p); much software swaps p and
// 1−p.
type NegativeBinomial struct{ R, Eta float64 }

// Mean returns R·p/(1−p).
func (d NegativeBinomial) Mean() float64 { return d.R / math.Expm1(d.Eta) }

// Variance returns R·p/(1−p)².
func (d NegativeBinomial) Variance() float64 {
	s := 2 * math.Sinh(d.Eta/2)
	return d.R / (s * s)
}

// LogProb returns ln P[X = k], −∞ for negative k. Its absolute error is about
// 1e−15 times the largest of 1, its absolute value and R·|k/Mean − 1|.
func (d NegativeBinomial) LogProb(k int64) float64 {
	if k < 0 {
		return math.Inf(-1)
	}
	if k == 0 {
		return d.R * log1mexp(d.Eta)
	}
	// R/(R+k) times the probability of R successes in R+k trials, by the binomial
	// formula for real R: what R has more than its mean, k has less.
	x := float64(k)
	n := d.R + x
	p, q := math.Exp(-d.Eta), -math.Expm1(-d.Eta)
	excess := d.R*p - x*q
	return stirlingError(n) - stirlingError(d.R) - stirlingError(x) -
		deviance(d.R, n*q, excess) - deviance(x, n*p, -excess) +
		0.5*math.Log(d.R/(2*math.Pi*x*n))
}

// Clusters returns −R·ln(1−p). The variable is the total size of random clusters.
// Their number is Poisson with the mean that Clusters returns. Their sizes are
// independent and follow Cluster (Quenouille, A Relation between the Logarithmic,
// Poisson, and Negative Binomial Series, Biometrics 5(2), 1949).
func (d NegativeBinomial) Clusters() float64 { return -d.R * log1mexp(d.Eta) }

// Cluster returns the law of the size of one cluster.
func (d NegativeBinomial) Cluster() Logarithmic { return Logarithmic{Eta: d.Eta} }

// Share returns the law of the part that one of n ≥ 1 clients draws.
func (d NegativeBinomial) Share(n int) NegativeBinomial {
	return NegativeBinomial{R: d.R / float64(n), Eta: d.Eta}
}

// Rand draws as a Poisson variable whose mean is a Gamma variable of shape R
// and scale p/(1−p), in O(1). An R that is not positive gives 0. R may be up to
// 1e6, and results are below 2^63 for Mean up to 1e17.
func (d NegativeBinomial) Rand(rng *rand.Rand) int64 {
	if !(d.R > 0) {
		return 0
	}
	return Poisson(rng, gamma(rng, min(d.R, maxMean))/math.Expm1(atLeastMinEta(d.Eta)))
}
