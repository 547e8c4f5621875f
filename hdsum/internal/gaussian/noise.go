package gaussian

import (
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/rounded"
)

// noise is what a server adds to a coordinate of its sum: ⌊N(0, σ²)⌋.
type noise struct {
	wide  *rounded.Noise
	parts int64   // σ = rounded.WideDeviation/parts
	sigma float64 // in units
}

// cut is the part of δ that pays for the distance of the law from the exact one.
const cut = 0x1p-20

// newNoise returns the least noise that hides a change of the given L2 sensitivity in dim coordinates.
func newNoise(r fl.Round, dim int, sensitivity float64) (n noise, err error) {
	if spare := (1 + math.Exp(r.Epsilon)) * float64(dim) * rounded.Distance * (1 + 0x1p-40); !(r.Delta*cut > spare) {
		return n, fl.Invalid("delta", r.Delta, "must be above %.3g, 2^20 times the noise's distance from the normal law", spare/cut)
	}
	if n.sigma, err = rounded.Sigma(r.Epsilon, r.Delta*(1-cut), sensitivity); err != nil {
		return n, err
	}
	return newNoiseOf("epsilon", r.Epsilon, dim, n.sigma)
}

// newNoiseOf returns noise of a standard deviation of at least sigma. The error names the ε that asks for more than there is.
func newNoiseOf(param string, epsilon float64, dim int, sigma float64) (noise, error) {
	if !(sigma <= rounded.WideDeviation/leastParts) {
		return noise{}, fl.Invalid(param, epsilon, "must be larger: the noise on %d coordinates, σ = %.3g, must be at most %.3g", dim, sigma, rounded.WideDeviation/leastParts)
	}
	wide, err := rounded.New()
	parts := int64(rounded.WideDeviation * (1 - 0x1p-45) / sigma)
	return noise{wide: wide, parts: parts, sigma: rounded.WideDeviation / float64(parts)}, err
}

// leastParts keeps σ within 2 % of the calibrated one.
const leastParts = 50

// draw returns ⌊N(0, σ²)⌋.
func (n noise) draw(rng *rand.Rand) int64 {
	w := n.wide.Wide(rng)
	q := w / n.parts
	if w%n.parts < 0 {
		q--
	}
	return q
}

// variance is one server's, of a coordinate: rounding down a normal variable that is so wide adds a uniform error.
func (n noise) variance() float64 { return n.sigma*n.sigma + 1./12 }
