package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// clients are simulated clients with one example each, who take part in turn. It implements
// trainer.Gradients.
type clients struct {
	examples []example
	grad     []float64
}

var _ trainer.Gradients = (*clients)(nil)

func newClients(examples []example, rng *rand.Rand) *clients {
	rng.Shuffle(len(examples), func(i, j int) { examples[i], examples[j] = examples[j], examples[i] })
	return &clients{examples: examples, grad: make([]float64, dim)}
}

func (c *clients) Len() int     { return len(c.examples) }
func (c *clients) Dim() int     { return dim }
func (c *clients) Close() error { return nil }

// Each computes the gradients of the clients whose turn it is.
func (c *clients) Each(ctx context.Context, params []float64, first, last int, visit func(int, []float64) error) error {
	for turn := first; turn < last; turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		gradient(c.grad, params, c.examples[turn%len(c.examples)])
		if err := visit(turn, c.grad); err != nil {
			return err
		}
	}
	return nil
}

// sample returns the gradients of all clients: of public examples only.
func sample(ctx context.Context, c *clients, params []float64) (*plan.Sample, error) {
	var gradients [][]float64
	err := c.Each(ctx, params, 0, c.Len(), func(_ int, grad []float64) error {
		gradients = append(gradients, slices.Clone(grad))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return plan.NewSample(gradients)
}
