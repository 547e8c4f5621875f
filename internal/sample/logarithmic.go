package sample

import "math/rand/v2"

// Logarithmic is the logarithmic series distribution (Fisher, Corbet, Williams,
// The Relation Between the Number of Species and the Number of Individuals,
// Journal of Animal Ecology 12, 1943) of decay Eta > 0: with p = e^−Eta,
//
//	P[X = k] = p^k/(−k·ln(1−p)),    k = 1, 2, 3, …
type Logarithmic struct{ Eta float64 }

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
