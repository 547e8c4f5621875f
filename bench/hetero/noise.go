package hetero

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/internal/sample"
)

// Noise is the integer form of weights, and the noise that goes with them.
//
// The grid is a power of two, 2^−45 to 2^−44 of the noise scale but at least
// 2^−60. Client i may move the sum by units_i, the weight in grid units rounded
// down to an integer (twice that in the L1 norm of a histogram), and the noise is
// discrete Laplace of decay η, with η·units_i ≤ ε_i in real numbers: η is rounded
// down. So nothing of the guarantee is lost to rounding. The published value is
// the noisy sum over Σ units: the weights in use, units_i/Σ units, sum to 1.
type Noise struct {
	eps   []float64
	units []int64
	moves int64 // L1 change of the sums per unit when a client's value is replaced
	total int64
	eta   float64 // +Inf without noise
}

// defaultNoiseBits makes the noise scale below 2^45 units, which
// keeps η above sample.MinEta and sums far from the limits of int64; the finest
// grid does the same for sums with little noise.
const (
	defaultNoiseBits = 45
	finestGridBits   = 60
)

// newNoise expects checked arguments. With v = moves·‖w/ε‖_∞, the noise scale is
// between 2^(noiseBits−1) and 2^noiseBits units before rounding.
func newNoise(eps []float64, w Weights, moves int64, noiseBits int) Noise {
	n := Noise{eps: eps, units: make([]int64, len(w)), moves: moves, eta: math.Inf(1)}
	gridBits := finestGridBits
	if v := float64(moves) * w.noiseScale(eps); v > 0 {
		_, exponent := math.Frexp(v)
		gridBits = min(gridBits, noiseBits-exponent)
	}
	for i, x := range w {
		n.units[i] = int64(math.Ldexp(x, gridBits)) // rounds down
		n.total += n.units[i]
		if n.units[i] == 0 || math.IsInf(eps[i], 1) {
			continue
		}
		// The quotient is rounded to the nearest: the number before is below it.
		n.eta = min(n.eta, math.Nextafter(eps[i]/float64(moves*n.units[i]), 0))
	}
	return n
}

// contribution is what client i adds to the sum for a value in [0, 1]: an integer
// in [0, units].
func (n *Noise) contribution(i int, x float64) int64 {
	return int64(math.RoundToEven(x * float64(n.units[i])))
}

// draw returns the noise of one sum.
func (n *Noise) draw(rng *rand.Rand) int64 {
	if math.IsInf(n.eta, 1) {
		return 0
	}
	return sample.DiscreteLaplace{Eta: n.eta}.Rand(rng)
}

// FreePrivacy returns the privacy that each client really gets: ε_i' = ε-differential privacy
// with ε_i' = moves·units_i·η ≤ ε_i, up to rounding w_i/‖w/ε‖_∞. It is more than
// was asked for wherever another client dictates the noise. The numbers are rounded
// up, but not above ε_i; public data stays +Inf only where there is no noise at
// all. O(n).
func (n *Noise) FreePrivacy() []float64 {
	actual := make([]float64, len(n.units))
	for i, u := range n.units {
		if u > 0 {
			actual[i] = min(n.eps[i], math.Nextafter(float64(n.moves*u)*n.eta, math.Inf(1)))
		}
	}
	return actual
}

// StdDev returns the standard deviation of the noise of each published number,
// in units of the values, before it is clamped.
func (n *Noise) StdDev() float64 {
	return math.Sqrt(sample.DiscreteLaplace{Eta: n.eta}.Variance()) / float64(n.total)
}

// Weights returns the weights in use, a copy. They differ from those asked for
// by the rounding to units. O(n).
func (n *Noise) Weights() Weights {
	w := make(Weights, len(n.units))
	for i, u := range n.units {
		w[i] = float64(u) / float64(n.total)
	}
	return w
}

// clamp moves an estimate into [0, 1], where the true value is.
func clamp(x float64) float64 { return max(0, min(1, x)) }

// equalNoise is the noise for clients that all get the same ε.
func equalNoise(clients int, epsilon float64, moves int64) Noise {
	eps := make([]float64, clients)
	floats.AddConst(epsilon, eps)
	return newNoise(eps, proportional(eps, func(float64) float64 { return 1 }), moves, defaultNoiseBits)
}
