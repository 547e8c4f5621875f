package training

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// task is a data set, one image per client, and how a model is trained on it.
type task struct {
	train, test *dataset.Set
	model       trainer.Model
	optimizer   trainer.OptimizerConfig
	cohort      int
	rounds      int
}

// newTask loads digits and pools them to 14×14.
func newTask(ctx context.Context, options dataset.Options, cohort, rounds int) (*task, string, error) {
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, "", err
	}
	t, err := taskOn(data, cohort, rounds)
	return t, data.Note, err
}

func taskOn(data *dataset.Data, cohort, rounds int) (_ *task, err error) {
	t := &task{cohort: cohort, rounds: rounds, optimizer: trainer.OptimizerConfig{Name: "momentum", LearningRate: 1.25, Momentum: 0.5}}
	if t.train, err = data.Train.Pool(2); err != nil {
		return nil, err
	}
	if t.test, err = data.Test.Pool(2); err != nil {
		return nil, err
	}
	if t.train.Len() < cohort*rounds {
		return nil, fl.Invalid("clients", t.train.Len(), "must be at least rounds × cohort = %d × %d", rounds, cohort)
	}
	t.model, err = trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: t.train.Rows, Width: t.train.Cols}, t.train.Classes)
	return t, err
}

// member encodes the gradient of client number i of a cohort, or returns nil if the
// client does not take part.
type member func(m fl.Mechanism, i int, grad []float64, rng *rand.Rand) ([]byte, error)

// run trains once, every client in one round at most, and returns the test accuracy.
// The rounds' mechanism is that of describe, completed.
func (t *task) run(ctx context.Context, describe func(dim int) fl.Round, encode member, rng *rand.Rand) (accuracy float64, err error) {
	worker, err := t.model.NewWorker(1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, worker.Close()) }()
	optimizer, err := trainer.NewOptimizer(t.optimizer, t.model.Dim())
	if err != nil {
		return 0, err
	}
	params := t.model.Init(rng)
	order := rng.Perm(t.train.Len())
	for i := range t.rounds {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		estimate, err := t.round(worker, params, describe(t.model.Dim()), encode, order[i*t.cohort:(i+1)*t.cohort], rng)
		if err != nil {
			return 0, err
		}
		if err := optimizer.Step(params, estimate.Value); err != nil {
			return 0, err
		}
	}
	return t.accuracy(params)
}

// round collects one round of reports.
func (t *task) round(worker *trainer.Worker, params []float64, r fl.Round, encode member, clients []int, rng *rand.Rand) (*fl.Estimate, error) {
	for i := range r.PublicSeed {
		r.PublicSeed[i] = byte(rng.Uint32())
	}
	r, err := fl.Complete(r)
	if err != nil {
		return nil, err
	}
	m, err := fl.Open(r)
	if err != nil {
		return nil, err
	}
	agg := m.NewAggregator()
	grad := make([]float64, t.model.Dim())
	for i, image := range clients {
		if _, err := worker.Gradient(grad, params, [][]float64{t.train.Image(image)}, t.train.Labels[image:image+1]); err != nil {
			return nil, err
		}
		if err := trainer.ShrinkL1(t.model, grad); err != nil {
			return nil, err
		}
		report, err := encode(m, i, grad, rng)
		if err != nil {
			return nil, err
		}
		if report == nil {
			continue
		}
		if err := agg.Add(report); err != nil {
			return nil, err
		}
	}
	return agg.Estimate()
}

func (t *task) accuracy(params []float64) (accuracy float64, err error) {
	evaluator, err := t.model.NewEvaluator(min(500, t.test.Len()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, evaluator.Close()) }()
	images := make([][]float64, t.test.Len())
	for i := range images {
		images[i] = t.test.Image(i)
	}
	accuracy, _, err = evaluator.Evaluate(params, images, t.test.Labels)
	return accuracy, err
}
