package training

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// trusted are the rounds of a server that sees every gradient.
type trusted struct {
	mechanism *central.Gaussian
	gradients trainer.Gradients
	cohort    int     // clients of a round, who take part in turn
	dropout   float64 // probability that one of them sends nothing
	rng       *rand.Rand
	sent      int64
}

func newTrusted(g *central.Gaussian, model *trainer.Model, clients holders, cohort int, dropout float64, rng *rand.Rand) (*trusted, error) {
	gradients, err := clients.On(model, false)
	return &trusted{mechanism: g, gradients: gradients, cohort: cohort, dropout: dropout, rng: rng}, err
}

// Mean implements trainer.Rounds.
func (t *trusted) Mean(ctx context.Context, round int, params []float64) (*fl.Estimate, error) {
	sum, n := make([]float64, len(params)), 0
	err := t.gradients.Each(ctx, params, round*t.cohort, (round+1)*t.cohort, func(_ int, grad []float64) error {
		if t.dropout > 0 && t.rng.Float64() < t.dropout {
			return nil
		}
		t.add(sum, grad)
		n++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("all %d clients dropped out: %w", t.cohort, fl.ErrTooFewReports)
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

// Bytes counts the bytes of dense gradients in 32-bit numbers.
func (t *trusted) Bytes() int64 { return t.sent }

func (t *trusted) Close() error { return t.gradients.Close() }
