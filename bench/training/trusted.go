package training

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/baseline/central"
	"github.com/hushgrad/hushgrad/fl"
)

// trusted is the collector of a server that sees every gradient.
type trusted struct {
	mechanism *central.Gaussian
	rng       *rand.Rand
	sum       []float64
	clients   int
}

func newTrusted(g *central.Gaussian, dim int, rng *rand.Rand) *trusted {
	return &trusted{mechanism: g, rng: rng, sum: make([]float64, dim)}
}

func (t *trusted) add(_ int, grad []float64) error {
	floats.AddScaled(t.sum, min(1, t.mechanism.Clip/floats.Norm(grad, 2)), grad)
	t.clients++
	return nil
}

func (t *trusted) flush() error { return nil }

func (t *trusted) estimate() (fl.Series, error) {
	return t.mechanism.Release(t.sum, t.clients, t.rng)
}

// sent is that of a dense gradient in 32-bit numbers.
func (t *trusted) sent() int { return 4 * len(t.sum) * t.clients }
