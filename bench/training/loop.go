package training

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// batch is how many clients' gradients are computed at once.
const batch = 256

// recipe is how a model is trained.
type recipe struct {
	rounds int
	// cohort is the number of clients of a round. They take part in turn, each as often
	// as every other, give or take one.
	cohort int
	// shrunk tells whether clients send the gradient with the smallest L1 norm.
	shrunk bool
	// open starts a round.
	open func(rng *rand.Rand) (collector, error)
	// steps chooses what the server does, from the standard error of a coordinate in
	// the first round.
	steps func(noise float64) plan.Steps
}

// outcome is what a run led to.
type outcome struct {
	accuracy float64
	// bytes is the mean length of a client's report.
	bytes float64
	// noise is the standard error of a coordinate in the first round, in units of the
	// gradient.
	noise float64
	// rate is the learning rate chosen from it.
	rate float64
}

// run trains once and measures the average of the models on the test pictures.
func (t *task) run(ctx context.Context, r recipe, rng *rand.Rand) (_ outcome, err error) {
	if n := t.train.Len(); r.cohort > n {
		return outcome{}, fl.Invalid("clients", n, "must be at least a cohort, %d", r.cohort)
	}
	examples, err := t.model.NewExamples(batch)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, examples.Close()) }()
	params, order := t.model.Init(rng), rng.Perm(t.train.Len())
	var out outcome
	var optimizer *trainer.Optimizer
	var average *trainer.Average
	sent := 0
	for i := range r.rounds {
		c, err := r.open(rng)
		if err != nil {
			return outcome{}, err
		}
		if err := t.collect(ctx, c, examples, params, r, order, i*r.cohort); err != nil {
			return outcome{}, err
		}
		mean, err := c.estimate()
		if err != nil {
			return outcome{}, err
		}
		if i == 0 {
			out.noise = floats.Norm(mean.StdErr, 2) / math.Sqrt(float64(len(mean.StdErr)))
			steps := r.steps(out.noise)
			if optimizer, average, err = newServer(steps, len(params)); err != nil {
				return outcome{}, err
			}
			out.rate = steps.LearningRate
		}
		if err := errors.Join(optimizer.Step(params, mean.Value), average.Add(params)); err != nil {
			return outcome{}, err
		}
		sent += c.sent()
	}
	if err := average.Params(params); err != nil {
		return outcome{}, err
	}
	out.bytes = float64(sent) / float64(r.rounds) / float64(r.cohort)
	out.accuracy, err = t.accuracy(params)
	return out, err
}

// newServer returns what the server needs between rounds.
func newServer(s plan.Steps, dim int) (*trainer.Optimizer, *trainer.Average, error) {
	optimizer, err := trainer.NewOptimizer(trainer.OptimizerConfig{Name: "momentum", LearningRate: s.LearningRate, Momentum: s.Momentum}, dim)
	if err != nil {
		return nil, nil, err
	}
	average, err := trainer.NewAverage(dim, s.Averaging)
	return optimizer, average, err
}

// collect gives the gradients of the clients from place first of the order on, which
// begins again at its end, to c.
func (t *task) collect(ctx context.Context, c collector, examples *trainer.Examples, params []float64, r recipe, order []int, first int) error {
	x, y := make([][]float64, 0, batch), make([]int, 0, batch)
	grad := make([]float64, t.model.Dim())
	for i := 0; i < r.cohort; i += len(x) {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, y = x[:0], y[:0]
		for k := i; k < r.cohort && len(x) < batch; k++ {
			picture := order[(first+k)%len(order)]
			x, y = append(x, t.train.Image(picture)), append(y, t.train.Labels[picture])
		}
		if _, err := examples.Run(params, x, y); err != nil {
			return err
		}
		gradient := examples.Gradient
		if r.shrunk {
			gradient = examples.Shrunk
		}
		for k := range x {
			if err := gradient(grad, k); err != nil {
				return err
			}
			if err := c.add(i+k, grad); err != nil {
				return err
			}
		}
		if err := c.flush(); err != nil {
			return err
		}
	}
	return nil
}
