package sample

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// DiscreteLaplace is the two-sided geometric distribution of decay Eta > 0, the
// difference of two independent geometric variables: with p = e^−Eta,
//
//	P[X = k] = (1−p)/(1+p)·p^|k|
type DiscreteLaplace struct{ Eta float64 }

// Prob returns P[X = k].
func (d DiscreteLaplace) Prob(k int64) float64 {
	return math.Tanh(d.Eta/2) * math.Exp(-d.Eta*math.Abs(float64(k)))
}

// CDF returns P[X ≤ k].
func (d DiscreteLaplace) CDF(k int64) float64 {
	lower := func(x float64) float64 { return math.Exp(d.Eta*x) / (1 + math.Exp(-d.Eta)) }
	if k < 0 {
		return lower(float64(k))
	}
	return 1 - lower(-float64(k)-1)
}

// Variance returns 2p/(1−p)².
func (d DiscreteLaplace) Variance() float64 {
	s := math.Sinh(d.Eta / 2)
	return 1 / (2 * s * s)
}

// Rand draws in O(1) from uniform integers and integer comparisons alone. Its
// law is exactly the one above with Eta the dyadic rational that the float64 is,
// for every Eta ≥ MinEta, below which MinEta is used. It is algorithm 2 of
// Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy,
// NeurIPS 2020: a sign and a geometric magnitude, where the pair of minus and 0
// is drawn again.
func (d DiscreteLaplace) Rand(rng *rand.Rand) int64 {
	g := newGeometric(d.Eta)
	for {
		k := g.draw(rng)
		if rng.Uint64()&1 == 0 {
			return k
		}
		if k > 0 {
			return -k
		}
	}
}

// geometric draws G with P[G ≥ k] = e^−ηk as G = U + 2^shift·V for independent
// U in [0, 2^shift), P[U = u] ∝ e^−ηu, and V geometric of decay γ = η·2^shift.
// The shift is the least that brings γ to 1/2 or more.
type geometric struct {
	shift int
	whole float64  // of γ
	part  fraction // of γ, γ = whole + part
}

func newGeometric(eta float64) geometric {
	eta = atLeastMinEta(eta)
	_, exponent := math.Frexp(eta)
	shift := max(0, -exponent)
	// Scaling by a power of two and splitting are exact, and a float64 of at least
	// 1/2 has at most 53 binary places.
	whole, part := math.Modf(math.Ldexp(eta, shift))
	return geometric{shift: shift, whole: whole, part: fraction{hi: uint64(part * 0x1p64)}}
}

func (g geometric) draw(rng *rand.Rand) int64 {
	var u uint64
	for g.shift > 0 {
		u = rng.Uint64() >> (64 - g.shift)
		// γ·(u/2^shift) = η·u, a product of two 64-bit fractions. γ is below 1 when
		// there is a shift.
		var x fraction
		x.hi, x.lo = bits.Mul64(g.part.hi, u<<(64-g.shift))
		if x.bernoulliExp(rng) {
			break
		}
	}
	v := int64(0)
	for g.more(rng) {
		v++
	}
	return v<<g.shift + int64(u)
}

// more is true with probability e^−γ.
func (g geometric) more(rng *rand.Rand) bool {
	for i := 0.; i < g.whole; i++ {
		if !bernoulliInverseE(rng) {
			return false
		}
	}
	return g.part.bernoulliExp(rng)
}
