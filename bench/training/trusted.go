package training

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/baseline/central"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// trusted are the rounds of a server that sees every gradient.
type trusted struct {
	mechanism *central.Gaussian
	gradients trainer.Gradients
	rng       *rand.Rand
	sent      int64
}

func newTrusted(g *central.Gaussian, model *trainer.Model, clients *trainer.Clients, rng *rand.Rand) (*trusted, error) {
	gradients, err := clients.On(model, false)
	return &trusted{mechanism: g, gradients: gradients, rng: rng}, err
}

// Mean implements trainer.Rounds. Every client takes part in every round.
func (t *trusted) Mean(ctx context.Context, round int, params []float64) (*fl.Estimate, error) {
	sum, n := make([]float64, len(params)), t.gradients.Len()
	err := t.gradients.Each(ctx, params, round*n, (round+1)*n, func(_ int, grad []float64) error {
		t.add(sum, grad)
		return nil
	})
	if err != nil {
		return nil, err
	}
	mean, err := t.mechanism.Release(sum, n, t.rng)
	if err != nil {
		return nil, err
	}
	return fl.NewEstimate(fl.Round{}, fl.Guarantee{}, int64(n), mean), nil
}

// add clips a gradient and adds it to the sum.
func (t *trusted) add(sum, grad []float64) {
	floats.AddScaled(sum, min(1, t.mechanism.Clip/floats.Norm(grad, 2)), grad)
	t.sent += 4 * int64(len(sum))
}

// Bytes is that of dense gradients in 32-bit numbers.
func (t *trusted) Bytes() int64 { return t.sent }

func (t *trusted) Close() error { return t.gradients.Close() }
