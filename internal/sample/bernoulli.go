package sample

import "math/rand/v2"

// fraction is the number (hi·2^64 + lo)/2^128.
type fraction struct{ hi, lo uint64 }

// bernoulli is true with probability x, exactly.
func (x fraction) bernoulli(rng *rand.Rand) bool {
	if u := rng.Uint64(); u != x.hi {
		return u < x.hi
	}
	return rng.Uint64() < x.lo
}

// bernoulliExp is true with probability e^−x, exactly: algorithm 1 of Canonne,
// Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020,
// after von Neumann. The first failure of trials with probabilities x/1, x/2,
// x/3, … comes at an odd place with probability 1 − x + x²/2! − ….
func (x fraction) bernoulliExp(rng *rand.Rand) bool {
	k := uint64(1)
	for x.bernoulli(rng) && (k == 1 || rng.Uint64N(k) == 0) {
		k++
	}
	return k%2 == 1
}

// bernoulliInverseE is true with probability 1/e: bernoulliExp at x = 1, which
// is not a fraction.
func bernoulliInverseE(rng *rand.Rand) bool {
	k := uint64(1)
	for k == 1 || rng.Uint64N(k) == 0 {
		k++
	}
	return k%2 == 1
}
