package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// together is the number of examples whose gradients one run of a graph computes.
const together = 256

// Clients are the clients of a simulation: which examples each of them holds, and when it
// takes part. They are immutable, and safe for concurrent use.
//
// Clients take part in turn, and each as often as every other, give or take once: turn
// number t, from 0, is that of client t mod Len. A round of n clients is n turns, and the
// next round goes on where it ended.
type Clients struct {
	x      [][]float64
	labels []int
	order  []int // of the examples: client i holds those from i·share on
	share  int
	count  int
}

// NewClients deals labelled examples out to n clients, in an order drawn from rng. All get
// the same number, and what is left over is not used. The examples are not copied. The
// error names labels when there is not one per example, and clients unless n is
// between 1 and the number of examples.
func NewClients(x [][]float64, labels []int, n int, rng *rand.Rand) (*Clients, error) {
	if len(labels) != len(x) {
		return nil, invalid("labels", len(labels), "must be one for each of the %d examples", len(x))
	}
	if n < 1 || n > len(x) {
		return nil, invalid("clients", n, "must be in [1, %d], the number of examples", len(x))
	}
	return &Clients{x: x, labels: labels, order: rng.Perm(len(x)), share: len(x) / n, count: n}, nil
}

// Len returns the number of clients.
func (c *Clients) Len() int { return c.count }

// NewExamples builds the graph on which Gradients and Shrunk compute: some 256 examples at
// once, and all those of one client at least. Each goroutine needs its own.
func (c *Clients) NewExamples(m *Model) (*Examples, error) {
	return m.NewExamples(c.atOnce() * c.share)
}

// atOnce is the number of clients whose gradients are computed in one run.
func (c *Clients) atOnce() int { return max(1, together/c.share) }

// Gradients computes the gradients at params of the clients whose turns are first, …, last−1,
// and calls visit with each of them, in this order: the mean over the client's own
// examples. What visit is given is valid until it returns, and may be changed. e is a
// result of NewExamples for the model that params belongs to.
//
// It ends with the first error of visit, of ctx or of a run of e. One run of the graph for
// some 256 examples, and O(d) per example.
func (c *Clients) Gradients(ctx context.Context, e *Examples, params []float64, first, last int, visit func(turn int, grad []float64) error) error {
	return c.each(ctx, e, params, first, last, e.Gradient, func(grad []float64) error { return nil }, visit)
}

// Shrunk is Gradients for mechanisms that clip the L1 norm: what visit is given is shifted
// as by ShrinkL1, without effect on the model.
func (c *Clients) Shrunk(ctx context.Context, e *Examples, params []float64, first, last int, visit func(turn int, grad []float64) error) error {
	return c.each(ctx, e, params, first, last, e.Shrunk, func(grad []float64) error {
		return ShrinkL1(e.m.net, grad) // the mean of shortest gradients need not be one
	}, visit)
}

// each computes clients' gradients from those of their examples; mend is applied to means of
// several.
func (c *Clients) each(ctx context.Context, e *Examples, params []float64, first, last int,
	of func(dst []float64, i int) error, mend func([]float64) error, visit func(int, []float64) error) error {
	x, labels := make([][]float64, 0, c.atOnce()*c.share), make([]int, 0, c.atOnce()*c.share)
	grad, part := make([]float64, e.m.net.dim), make([]float64, e.m.net.dim)
	for from := first; from < last; from += c.atOnce() {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+c.atOnce(), last)
		x, labels = x[:0], labels[:0]
		for turn := from; turn < to; turn++ {
			x, labels = c.examples(turn, x, labels)
		}
		if _, err := e.Run(params, x, labels); err != nil {
			return err
		}
		for turn := from; turn < to; turn++ {
			at := (turn - from) * c.share
			if c.share == 1 {
				if err := of(grad, at); err != nil {
					return err
				}
			} else if err := c.mean(grad, part, at, of, mend); err != nil {
				return err
			}
			if err := visit(turn, grad); err != nil {
				return fmt.Errorf("client %d: %w", turn%c.count, err)
			}
		}
	}
	return nil
}

// mean computes the gradient of the client whose examples begin at place at of the run.
func (c *Clients) mean(grad, part []float64, at int, of func([]float64, int) error, mend func([]float64) error) error {
	clear(grad)
	for i := range c.share {
		if err := of(part, at+i); err != nil {
			return err
		}
		floats.AddScaled(grad, 1/float64(c.share), part)
	}
	return mend(grad)
}

// examples appends those of the client whose turn it is.
func (c *Clients) examples(turn int, x [][]float64, labels []int) ([][]float64, []int) {
	client := turn % c.count
	for _, i := range c.order[client*c.share : (client+1)*c.share] {
		x, labels = append(x, c.x[i]), append(labels, c.labels[i])
	}
	return x, labels
}
