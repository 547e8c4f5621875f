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
	// WideDeviation is that of Noise.Wide, √(q⁶+q⁴+q²+1)·s.
	WideDeviation = 2111442119.149275
	// Limit bounds the magnitude of Noise.Rand.
	Limit = 4096 * (q + 1)
	// Distance bounds the total variation distance between the law of Rand or Wide and
	// that of the rounded normal variable.
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
