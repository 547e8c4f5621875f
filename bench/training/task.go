// Package training holds the experiments that train a model with the real mechanisms. Use it from
// the command bench: accuracy compares mechanisms, tiers lets clients choose their own ε, constants
// varies the planner's constants, scattering varies features, sites have many records each, federation runs examples/mnist, liars lies in its rounds. Start with
// [Experiments].
//
// federation and liars talk gRPC. The others train in one process and without a network.
package training

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// Experiments are what this package can run.
func Experiments() []experiment.Experiment {
	return append(experiment.ForMaintainers.All(constantsExperiment()),
		tiersExperiment(), accuracyExperiment(), federationExperiment(), scatteringExperiment(), sitesExperiment(), liarsExperiment())
}

// task is a data set in the hands of clients, and a model of its features: softmax regression, unless it was replaced.
type task struct {
	features    string // name
	opened      features.Features
	pretraining string   // what a network behind the features learned from: a value of the column
	zeroShot    *float64 // share of the test pictures whose class the features know; nil: they know none
	train, test *dataset.Set
	clients     int     // who share the training pictures
	skew        float64 // concentration of their shares of the classes; 0: they do not differ
	pictureL2   float64 // guess of the L2 norm of one picture's gradient at the first model
	model       *trainer.Model
	first       []float64 // the first model of all runs; nil: each run draws its own
}

// newTask gives every picture to a client of its own.
func newTask(ctx context.Context, env experiment.Env, data *dataset.Data, name string) (*task, error) {
	env.Progress.Describe("features")
	f, err := dataset.OpenFeatures(ctx, name, env.Progress)
	if err != nil {
		return nil, err
	}
	t := &task{features: name, opened: f, pretraining: "none"}
	if strings.HasPrefix(name, dataset.DemoFeatures) {
		t.pretraining = "glyphs"
	}
	known, ok, err := dataset.ZeroShot(ctx, f, data.Test, env.Progress)
	if err != nil {
		return nil, err
	}
	if ok {
		t.zeroShot = &known
	}
	if data, err = data.In(ctx, f, env.Progress); err != nil {
		return nil, err
	}
	t.train, t.test, t.clients = data.Train, data.Test, data.Train.Len()
	t.model, err = trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: t.train.Rows, Width: t.train.Cols}, t.train.Classes)
	return t, err
}

// heldOut replaces the test pictures by the last sixth of the training ones, which are
// trained on no more: for choosing constants without looking at the test pictures.
func heldOut(data *dataset.Data) *dataset.Data {
	n := data.Train.Len() / 6 * 5
	part := func(from, to int) *dataset.Set {
		s, d := *data.Train, data.Train.Dim()
		s.Images, s.Labels = s.Images[from*d:to*d], s.Labels[from:to]
		return &s
	}
	out := *data
	out.Train, out.Test = part(0, n), part(n, data.Train.Len())
	return &out
}

// rounds is a source of means that counts what its clients send.
type rounds interface {
	trainer.Rounds
	// Bytes is the length of all reports so far.
	Bytes() int64
	Close() error
}

// holders are clients that report something about their examples: trainer.Clients about gradients.
type holders interface {
	On(m *trainer.Model, shrunk bool) (trainer.Gradients, error)
}

// answering are clients that report something else than gradients.
type answering struct {
	*trainer.Clients
	about *plan.Centring
}

func (a answering) On(m *trainer.Model, _ bool) (trainer.Gradients, error) {
	return a.Answers(m.Dim(), a.about.Answer), nil
}

// recipe is how a model is trained.
type recipe struct {
	rounds int
	// centring is what the first of the rounds is about; nil: a gradient, too.
	centring *plan.Centring
	// cohort is the number of clients of a round, whether they report or not. They take part in
	// turn.
	cohort int
	// open starts the rounds. All randomness comes from rng.
	open func(clients holders, rng *rand.Rand) (rounds, error)
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
func (t *task) run(ctx context.Context, r recipe, rng *rand.Rand) (out outcome, err error) {
	params := t.first
	if params == nil {
		params = t.model.Init(rng)
	}
	order := rng.Uint64()
	deal := func() (*trainer.Clients, error) { return t.deal(rand.New(rand.NewPCG(order, 0))) }
	clients, err := deal()
	if err != nil {
		return outcome{}, err
	}
	if r.centring != nil {
		if t, err = t.around(ctx, r, clients, params, rng); err != nil {
			return outcome{}, err
		}
		if clients, err = deal(); err != nil { // the same pictures to each
			return outcome{}, err
		}
	}
	means, err := r.open(clients, rng)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, means.Close()) }()
	held := 0
	if r.centring != nil {
		held = 1
	}
	reports := int64(0)
	average, err := trainer.Run(ctx, means, params, trainer.RunConfig{
		Held: held, Rounds: r.rounds - held,
		After: func(p trainer.Progress) error {
			reports += p.Estimate.Reports
			return nil
		},
		Choose: func(noise float64) trainer.Steps {
			s := r.steps(noise)
			out.noise, out.rate = noise, s.LearningRate
			return trainer.Momentum(s.LearningRate, s.Momentum, s.Averaging)
		},
	})
	if err != nil {
		return outcome{}, err
	}
	out.bytes = float64(means.Bytes()) / float64(reports)
	out.accuracy, err = t.accuracy(average)
	return out, err
}

// centring is what the first round of a course is about, where the features suit it, as examples/mnist has it: see plan.Centring. Mechanisms that clip the L1
// norm of all coordinates would clip it.
func (t *task) centring(c course, l1 bool) *plan.Centring {
	if !features.Centred(t.opened) || t.first != nil || c.rounds < plan.LeastCentred || l1 && c.sparsity == 0 || c.scale == 0 {
		return nil
	}
	return plan.NewCentring(t.train.Dim(), floats.Norm(t.train.Image(0), 2), c.scale, c.sparsity)
}

// around holds a round about the features, and returns the task with features around their mean.
func (t *task) around(ctx context.Context, r recipe, clients *trainer.Clients, params []float64, rng *rand.Rand) (_ *task, err error) {
	round, err := r.open(answering{clients, r.centring}, rng)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, round.Close()) }()
	e, err := round.Mean(ctx, 0, params)
	if err != nil {
		return nil, err
	}
	moved, mean := *t, r.centring.Mean(e)
	for _, s := range []**dataset.Set{&moved.train, &moved.test} {
		set := **s
		set.Images = slices.Clone(set.Images)
		plan.Around(mean, set.All()...)
		*s = &set
	}
	return &moved, nil
}

// timed is run with its seconds, or what a checkpoint has of it under a key.
func (t *task) timed(ctx context.Context, env experiment.Env, key string, r recipe, rng *rand.Rand) (outcome, float64, error) {
	values, err := env.Checkpoint.Do(key, func() ([]float64, error) {
		began := time.Now()
		out, err := t.run(ctx, r, rng)
		return []float64{out.accuracy, out.bytes, out.noise, out.rate, time.Since(began).Seconds()}, err
	})
	if err != nil {
		return outcome{}, 0, fmt.Errorf("%s: %w", key, err)
	}
	return outcome{accuracy: values[0], bytes: values[1], noise: values[2], rate: values[3]}, values[4], nil
}

// deal gives the training pictures to the clients.
func (t *task) deal(rng *rand.Rand) (*trainer.Clients, error) {
	if t.skew > 0 {
		return skewedClients(t.train.All(), t.train.Labels, t.clients, t.skew, rng)
	}
	return trainer.NewClients(t.train.All(), t.train.Labels, t.clients, rng)
}

func (t *task) accuracy(params []float64) (accuracy float64, err error) {
	evaluator, err := t.model.NewEvaluator(min(500, t.test.Len()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, evaluator.Close()) }()
	accuracy, _, err = evaluator.Evaluate(params, t.test.All(), t.test.Labels)
	return accuracy, err
}
