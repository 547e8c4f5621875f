package sample

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Clusters draws one client's shares of many negative binomial variables, from uniform
// integers only. Its law is the one below to the last bit, for the float64 Eta.
//
// There are Variables variables NegativeBinomial{1, Eta}, and each of Clients clients
// has a share of each, NegativeBinomial{1, Eta}.Share(Clients). A share is the sum of the
// sizes of its clusters. With p = e^−Eta, the number of clusters of size j in one share is
// Poisson with the mean
//
//	p^j/(j·Clients),    j = 1, 2, 3, …                                        (1)
//
// independently for all j. Sizes of 2^Blocks and more are left out.
//
// # Sampling
//
// Block b holds the sizes from 2^b to 2^(b+1)−1. A Poisson number of candidates with mean
// Variables/Clients, a rational number, falls into it. Each has a uniform size of the block and a
// uniform variable, and stays with probability 2^b/j·p^j. So clusters of size j and one
// variable have the mean 1/Clients·2^−b·2^b/j·p^j, which is (1).
type Clusters struct {
	Variables, Clients int     // at least 1, at most 2^30
	Eta                float64 // at least MinEta and below 1024
	Blocks             int     // in [1, 61] and 2^Blocks·Eta below 2^32
}

// Missing bounds from above the expected number of clusters of all clients together that
// are left out: Variables·Σ p^j/j over j ≥ 2^Blocks. It bounds the total variation distance between
// all clients' shares and those with all clusters, too.
func (c Clusters) Missing() float64 {
	first := math.Ldexp(1, c.Blocks)
	return float64(c.Variables) * math.Exp(-c.Eta*first) / (first * -math.Expm1(-c.Eta)) * (1 + 0x1p-40)
}

// Rand calls visit for every cluster. Expected time O(Blocks·(1 + Variables/Clients)).
func (c Clusters) Rand(rng *rand.Rand, visit func(variable int, size int64)) {
	decay := newDecay(c.Eta)
	for b := range c.Blocks {
		least := uint64(1) << b
		for range poissonRatio(rng, uint64(c.Variables), uint64(c.Clients)) {
			size := least + rng.Uint64N(least)
			variable := rng.IntN(c.Variables)
			if rng.Uint64N(size) < least && decay.power(rng, size) {
				visit(variable, int64(size))
			}
		}
	}
}

// poissonRatio draws from the Poisson distribution of mean a/b, exactly, in O(1 + a/b):
// numbers of mean 1/2 for the whole halves, and one that is thinned for the rest.
func poissonRatio(rng *rand.Rand, a, b uint64) (k int) {
	for range 2 * a / b {
		k += poissonHalf(rng)
	}
	rest := 2 * a % b
	for range poissonHalf(rng) {
		if rng.Uint64N(b) < rest {
			k++
		}
	}
	return k
}

// poissonHalf draws from the Poisson distribution of mean 1/2, exactly: k with probability
// 2^−(k+1), accepted with probability 1/k!.
func poissonHalf(rng *rand.Rand) int {
	for {
		k, zeros := 0, 64
		for zeros == 64 {
			zeros = bits.TrailingZeros64(rng.Uint64())
			k += zeros
		}
		accepted := true
		for i := uint64(2); accepted && i <= uint64(k); i++ {
			accepted = rng.Uint64N(i) == 0
		}
		if accepted {
			return k
		}
	}
}

// decay is η, to draw with probability e^−ηj.
type decay struct {
	whole uint64
	part  fraction // η = whole + part; exact for η ≥ MinEta
}

func newDecay(eta float64) decay {
	whole, part := math.Modf(atLeastMinEta(eta))
	hi, lo := math.Modf(part * 0x1p64)
	return decay{whole: uint64(whole), part: fraction{hi: uint64(hi), lo: uint64(lo * 0x1p64)}}
}

// times returns ηj, exactly. It is below 2^63.
func (d decay) times(j uint64) decay {
	carry, lo := bits.Mul64(d.part.lo, j)
	whole, hi := bits.Mul64(d.part.hi, j)
	hi, over := bits.Add64(hi, carry, 0)
	return decay{whole: whole + over + d.whole*j, part: fraction{hi: hi, lo: lo}}
}

// power is true with probability e^−ηj, exactly.
func (d decay) power(rng *rand.Rand, j uint64) bool {
	x := d.times(j)
	for range x.whole {
		if !bernoulliInverseE(rng) {
			return false
		}
	}
	return x.part.bernoulliExp(rng)
}
