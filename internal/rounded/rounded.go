// Package rounded draws Gaussian noise rounded down to a grid, exactly, and calibrates it. Use it
// for mechanisms with normal noise, whose proofs are about real numbers. Start with [New]
// and [Sigma].
//
// A mechanism sends x + floor(noise), x on the grid. That is the continuous Gaussian
// mechanism's output rounded down, a function of that output. So the guarantee is the
// continuous one's, and floating-point numbers have no part in it.
//
// # The law
//
// Let s = √(2^17) ≈ 362, D = D' + ½ with P[D] ∝ exp(−D²/(2s²)) on the half-integers,
// q = 180, and N normal of standard deviation s. Then qD + N has, at every real w, the density
//
//	Σ_D exp(−D²/(2s²))·exp(−(w−qD)²/(2s²)) ∝ exp(−w²/(2S²))·Σ_D exp(−(qD−cw)²/(2r²)),
//	S² = (q²+1)s²,  r² = q²s²/(q²+1),  c = q²/(q²+1),
//
// and by Poisson's summation formula the last sum is a constant up to a factor within
// 1 ± 2.01·exp(−2π²r²/q²) = 1 ± 2^−114: a normal law of standard deviation S ≈ 65168 is had
// by adding numbers from two tables. (Micciancio and Walter, Gaussian Sampling over the
// Integers, CRYPTO 2017, do so with lattices.) Once more, q²D + N for N of standard deviation S,
// and so on, with r/q² again just above 2.
//
// D' and floor(N) come from [table.Table] with weights that are computed with 192 bits. The
// law is within [Distance] of the exact one in total variation: 2^−96.1 for the two tails
// beyond 4096 = 11.3·s of each of two or four tables, 2^−112 for the weights and 2^−114 for
// each sum.
package rounded

import (
	"math"
	"math/rand/v2"
)

const (
	q = 180
	s = 256 * math.Sqrt2

	// Deviation is the standard deviation of the normal variable that Noise.Rand rounds
	// down, √(q²+1)·s.
	Deviation = 65167.96660937029
	// WideDeviation is the same for Noise.Wide, √(q⁶+q⁴+q²+1)·s.
	WideDeviation = 2111442119.149275
	// Limit bounds the magnitude of Noise.Rand.
	Limit = 4096 * (q + 1)
	// Distance bounds the total variation distance between the law of Rand or Wide and
	// the law of the rounded normal variable.
	Distance = 0x1p-94
)

// Noise draws. It is immutable and safe for concurrent use.
type Noise struct{ tables }

// New returns the only Noise there is. The first call takes 50 ms.
func New() (*Noise, error) {
	t, err := shared()
	if err != nil {
		return nil, err
	}
	return &Noise{t}, nil
}

// Rand returns floor(N) for N normal with mean 0 and standard deviation Deviation: the
// mean is −½ and the variance Deviation² + 1/12. It takes one random word, but once
// in 2^18 draws.
func (n *Noise) Rand(rng *rand.Rand) int64 {
	w := rng.Uint64()
	return q*n.points.Signed(uint32(w>>32), rng) + q/2 + n.cells.Signed(uint32(w), rng)
}

// Wide is Rand with WideDeviation, at twice the cost.
func (n *Noise) Wide(rng *rand.Rand) int64 {
	w := rng.Uint64()
	coarse := q*n.points.Signed(uint32(w>>32), rng) + q/2 + n.points.Signed(uint32(w), rng)
	return q*q*coarse + q*q/2 + n.Rand(rng)
}
