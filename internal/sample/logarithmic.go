package sample

import (
	"math"
	"math/rand/v2"
)

// Logarithmic is the logarithmic series distribution (Fisher, Corbet, Williams,
// The Relation Between the Number of Species and the Number of Individuals,
// Journal of Animal Ecology 12, 1943) of decay Eta > 0: with p = e^−Eta,
//
//	P[X = k] = p^k/(−k·ln(1−p)),    k = 1, 2, 3, …
type Logarithmic struct{ Eta float64 }

// Mean returns p/((1−p)·c) with c = −ln(1−p).
func (d Logarithmic) Mean() float64 { return 1 / (math.Expm1(d.Eta) * -log1mexp(d.Eta)) }

// Variance returns p·(c−p)/((1−p)·c)² with c = −ln(1−p).
func (d Logarithmic) Variance() float64 {
	p, c := math.Exp(-d.Eta), -log1mexp(d.Eta)
	excess := c - p
	if p < 0.5 {
		// c − p cancels for small p; sum p²/2 + p³/3 + ….
		excess = 0
		power := p
		for k := 2.0; ; k++ {
			power *= p
			next := excess + power/k
			if next == excess {
				break
			}
			excess = next
		}
	}
	f := math.Expm1(d.Eta) * c
	return excess / (p * f * f)
}

// Prob returns P[X = k], 0 for k < 1.
func (d Logarithmic) Prob(k int64) float64 {
	if k < 1 {
		return 0
	}
	x := float64(k)
	return math.Exp(-d.Eta*x) / (x * -log1mexp(d.Eta))
}

// Rand draws one value in O(1). A sampler kept by NewLogarithmicSampler saves
// one logarithm per draw.
func (d Logarithmic) Rand(rng *rand.Rand) int64 {
	return NewLogarithmicSampler(d.Eta).Rand(rng)
}

// LogarithmicSampler draws from a Logarithmic distribution with its constant
// computed in advance.
type LogarithmicSampler struct{ eta, c float64 } // c = −ln(1−p)

// NewLogarithmicSampler returns a sampler of Logarithmic{eta}.
func NewLogarithmicSampler(eta float64) LogarithmicSampler {
	eta = atLeastMinEta(eta)
	return LogarithmicSampler{eta: eta, c: -log1mexp(eta)}
}

// Rand draws one value in O(1), by the representation of Kemp, Efficient
// Generation of Logarithmically Distributed Pseudo-Random Variables, Applied
// Statistics 30(3), 1981: given 1−q = (1−p)^W with W uniform, the value is
// geometric, P[X = k | q] = (1−q)·q^(k−1).
func (s LogarithmicSampler) Rand(rng *rand.Rand) int64 {
	e := exponential(rng)
	if e <= s.eta { // as −ln q ≥ η
		return 1
	}
	return 1 + int64(e/-log1mexp(uniform(rng)*s.c))
}
