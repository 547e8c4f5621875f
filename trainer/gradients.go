package trainer

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
)

// Gradients computes the gradients of simulated clients, which take part in turn: see [Clients].
// [Clients.On] returns the Gradients of a Model, and [NewLinear] the Gradients of a linear model with
// any loss. A model or a loss of one's own is another implementation. Gradients is not safe for
// concurrent use.
type Gradients interface {
	// Len is the number of clients. Dim is the number of coordinates of a gradient.
	Len() int
	Dim() int
	// Each computes the gradients at params of the clients whose turns are first, …, last−1,
	// and calls visit with each of them, in this order: the mean over the client's own
	// examples. What visit is given is valid until it returns, and may be changed. Each ends
	// with the first error of visit or of ctx.
	Each(ctx context.Context, params []float64, first, last int, visit func(turn int, grad []float64) error) error
	// Close frees what computes them. Closing twice is allowed.
	Close() error
}

// together is the number of examples whose gradients one run of a graph computes.
const together = 256

// On returns the clients' gradients of a model. Where shrunk is true they are shifted as by
// ShrinkL1, without effect on the model: that suits mechanisms that clip the L1 norm.
//
// One run of the graph computes some 256 examples, and all examples of one client at least. O(d)
// per example beside it.
func (c *Clients) On(m *Model, shrunk bool) (Gradients, error) {
	g := &modelGradients{clients: c, atOnce: max(1, together/c.shares.each)}
	var err error
	if g.examples, err = m.NewExamples(g.atOnce * c.shares.each); err != nil {
		return nil, err
	}
	g.of, g.mend = g.examples.Gradient, func([]float64) error { return nil }
	if shrunk {
		g.of = g.examples.Shrunk
		g.mend = func(grad []float64) error { return ShrinkL1(m, grad) } // the mean of shortest gradients need not be one
	}
	return g, nil
}

// modelGradients computes the gradients of clients' examples by a graph.
type modelGradients struct {
	clients  *Clients
	examples *Examples
	atOnce   int // clients of one run
	of       func(dst []float64, i int) error
	mend     func(mean []float64) error
}

func (g *modelGradients) Len() int { return g.clients.Len() }

func (g *modelGradients) Dim() int { return g.examples.m.net.dim }

func (g *modelGradients) Each(ctx context.Context, params []float64, first, last int, visit func(turn int, grad []float64) error) error {
	share := g.clients.shares.each
	x, labels := make([][]float64, 0, g.atOnce*share), make([]int, 0, g.atOnce*share)
	grad, part := make([]float64, g.Dim()), make([]float64, g.Dim())
	for from := first; from < last; from += g.atOnce {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+g.atOnce, last)
		x, labels = x[:0], labels[:0]
		for turn := from; turn < to; turn++ {
			x, labels = g.clients.examples(turn, x, labels)
		}
		if _, err := g.examples.Run(params, x, labels); err != nil {
			return err
		}
		for turn := from; turn < to; turn++ {
			if err := g.mean(grad, part, (turn-from)*share); err != nil {
				return err
			}
			if err := visit(turn, grad); err != nil {
				return fmt.Errorf("client %d: %w", turn%g.Len(), err)
			}
		}
	}
	return nil
}

// mean computes the gradient of the client whose examples begin at place at of the run.
func (g *modelGradients) mean(grad, part []float64, at int) error {
	share := g.clients.shares.each
	if share == 1 {
		return g.of(grad, at)
	}
	clear(grad)
	for i := range share {
		if err := g.of(part, at+i); err != nil {
			return err
		}
		floats.AddScaled(grad, 1/float64(share), part)
	}
	return g.mend(grad)
}

func (g *modelGradients) Close() error { return g.examples.Close() }

// Answers returns what clients answer to another question than for a gradient, as Gradients: of a length, and by a function that writes a client's answer
// about its examples, such as plan.Centring.Answer. Each ignores the parameters that it is given.
func (c *Clients) Answers(length int, answer func(dst []float64, examples ...[]float64)) Gradients {
	return answers{c, length, answer}
}

type answers struct {
	*Clients
	length int
	answer func(dst []float64, examples ...[]float64)
}

func (a answers) Dim() int { return a.length }

func (a answers) Each(ctx context.Context, _ []float64, first, last int, visit func(turn int, answer []float64) error) error {
	answer := make([]float64, a.length)
	var x [][]float64
	for turn := first; turn < last; turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, _ = a.examples(turn, x[:0], nil)
		a.answer(answer, x...)
		if err := visit(turn, answer); err != nil {
			return fmt.Errorf("client %d: %w", turn%a.Len(), err)
		}
	}
	return nil
}

func (a answers) Close() error { return nil }
