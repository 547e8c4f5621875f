package training

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// sweep is what bench accuracy runs over.
type sweep struct {
	rounds     int
	delta      float64
	server     server
	sumdp      fl.Params
	heldOut    bool
	clients    int
	skew       float64
	locals     []float64 // ε of one report
	centrals   []float64 // ε of all of a client's reports
	repeats    int
	features   []string // names
	contenders []contender
}

func accuracyExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "accuracy",
		Title:  "Test accuracy against local and central ε, one report per client and round",
		Source: "Mechanisms of this module, the baselines of package baseline, and no privacy, on the same gradients with the same accounting",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			s := sweep{}
			flags.IntVar(&s.rounds, "rounds", 30, "rounds of training")
			flags.Float64Var(&s.delta, "delta", 1e-6, "δ at which the central ε of all rounds is stated")
			kinds := flags.String("features", dataset.Edges, "comma-separated `list` of what the model sees of a picture, among "+strings.Join(dataset.FeatureNames(), ","))
			flags.BoolVar(&s.heldOut, "held-out", false, "test on the last sixth of the training pictures and train on the others: for choosing constants")
			flags.IntVar(&s.clients, "clients", 0, "clients, who share the training pictures; 0: one per picture")
			flags.Float64Var(&s.skew, "skew", 0, "concentration of the Dirichlet distribution from which each client draws its shares of the classes, with -clients: at 0.1 most of its pictures are of one or two classes; 0: no client differs")
			flags.Float64Var(&s.server.rate, "lr", 0, "learning rate of every run; 0: planned from the noise")
			flags.Float64Var(&s.server.momentum, "momentum", -1, "momentum of every run, in [0, 1); -1: planned")
			flags.Float64Var(&s.server.averaging, "averaging", -1, "decay of the average of the models, in [0, 1), which is the one that counts; -1: planned")
			sumdp := bindSumDP(flags)
			names := flags.String("mechanisms", "", "comma-separated `list` of those to compare; empty: "+strings.Join(contenderNames(), ","))
			locals := flags.String("local", "", "comma-separated `list` of ε of one report, for local mechanisms; empty: 0.5,1,2,4,6,8")
			centrals := flags.String("central", "", "comma-separated `list` of ε of the whole run, for the others; empty: 0.1,0.25,0.6,1,2,4")
			return func(ctx context.Context, env experiment.Env) (_ *experiment.Result, err error) {
				s := s
				s.sumdp = sumdp()
				if s.contenders, err = parseContenders(*names); err != nil {
					return nil, err
				}
				if s.features, err = parseFeatures(*kinds); err != nil {
					return nil, err
				}
				if s.locals, err = parseEpsilons("-local", *locals); err != nil {
					return nil, err
				}
				if s.centrals, err = parseEpsilons("-central", *centrals); err != nil {
					return nil, err
				}
				return s.run(ctx, env)
			}
		},
	}
}

// cell is one contender at one ε, on one kind of features.
type cell struct {
	contender
	task     *task
	demands  plan.Training
	epsilon  float64 // of the kind its role says; 0 without
	course   course
	outcomes []outcome // one per repeat
	seconds  float64   // of one run on one core, on average
}

func (s sweep) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	switch {
	case s.rounds < 3:
		return nil, fl.Invalid("-rounds", s.rounds, "must be at least 3")
	case !(s.delta > 0 && s.delta < 1):
		return nil, fl.Invalid("-delta", s.delta, "must be in (0, 1)")
	case !(s.server.rate >= 0) || math.IsInf(s.server.rate, 1):
		return nil, fl.Invalid("-lr", s.server.rate, "must be finite and at least 0")
	case s.server.momentum != -1 && !(s.server.momentum >= 0 && s.server.momentum < 1):
		return nil, fl.Invalid("-momentum", s.server.momentum, "must be in [0, 1), or -1")
	case s.clients != 0 && s.clients < 2:
		return nil, fl.Invalid("-clients", s.clients, "must be at least 2, or 0")
	case !(s.skew >= 0 && s.skew <= trainer.MaxConcentration):
		return nil, fl.Invalid("-skew", s.skew, "must be in (0, %g], or 0", float64(trainer.MaxConcentration))
	case s.skew > 0 && s.clients == 0:
		return nil, fl.Invalid("-skew", s.skew, "needs -clients: one picture has one class")
	case s.server.averaging != -1 && !(s.server.averaging >= 0 && s.server.averaging < 1):
		return nil, fl.Invalid("-averaging", s.server.averaging, "must be in [0, 1), or -1")
	}
	locals, centrals := []float64{0.5, 1, 2, 4, 6, 8}, []float64{0.1, 0.25, 0.6, 1, 2, 4}
	s.repeats = env.RepeatsOr(3)
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	if env.Quick {
		options.TrainSize, options.TestSize = 6000, 1000
		s.rounds = min(s.rounds, 10)
		locals, centrals, s.repeats = []float64{1, 4}, []float64{1, 4}, env.RepeatsOr(2)
	}
	if s.locals == nil {
		s.locals = locals
	}
	if s.centrals == nil {
		s.centrals = centrals
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	if s.heldOut {
		data = heldOut(data)
	}
	return s.on(ctx, env, data)
}

// on sweeps over one data set.
func (s sweep) on(ctx context.Context, env experiment.Env, data *dataset.Data) (*experiment.Result, error) {
	if s.clients > data.Train.Len() {
		return nil, fl.Invalid("-clients", s.clients, "must be at most the number of training pictures, %d", data.Train.Len())
	}
	var cells []*cell
	for _, name := range s.features {
		t, err := newTask(ctx, env, data, name)
		if err != nil {
			return nil, err
		}
		t.clients, t.skew = cmp.Or(s.clients, t.clients), s.skew
		demands, err := s.demands(ctx, t)
		if err != nil {
			return nil, err
		}
		cells = append(cells, s.cells(t, demands)...)
	}
	env.Progress.Describe("accuracy")
	env.Progress.Grow(len(cells) * s.repeats)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, c := range cells {
		group.Go(func() error { return s.measure(ctx, env, c) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return s.report(cells, data), nil
}

// publicDigits is the number of generated digits from which norms are guessed.
const publicDigits = 256

// demands are what all contenders share. The norms are those of generated digits, which
// nobody wrote.
func (s sweep) demands(ctx context.Context, t *task) (plan.Training, error) {
	public, err := dataset.Generate(ctx, dataset.Options{TrainSize: publicDigits, TestSize: 1, Seed: 1})
	if err != nil {
		return plan.Training{}, err
	}
	if public, err = public.In(ctx, t.opened, nil); err != nil {
		return plan.Training{}, err
	}
	l1, l2, err := trainer.GradientNorms(t.model, t.model.Init(experiment.Stream(1)), public.Train.All(), public.Train.Labels)
	return plan.Training{
		Dim: t.model.Dim(), Clients: t.clients, Rounds: s.rounds, Delta: s.delta, L1: l1, L2: l2,
		Centred: features.Centred(t.opened),
	}, err
}

// cells are every contender at every ε of its kind, on one task.
func (s sweep) cells(t *task, demands plan.Training) []*cell {
	var cells []*cell
	for _, c := range s.contenders {
		epsilons := s.locals
		switch {
		case c.role == reference:
			epsilons = []float64{0}
		case c.role.central():
			epsilons = s.centrals
		}
		for _, epsilon := range epsilons {
			cells = append(cells, &cell{contender: c, task: t, demands: demands, epsilon: epsilon})
		}
	}
	return cells
}

// measure fills a cell. Repeats differ in the order of the clients and in all noise.
func (s sweep) measure(ctx context.Context, env experiment.Env, c *cell) (err error) {
	if c.course, err = c.contender.course(ctx, setting{Training: c.demands, epsilon: c.epsilon, model: c.task.model, server: s.server, sumdp: s.sumdp}); err != nil {
		return fmt.Errorf("%s on %s at ε = %g: %w", c.name, c.task.features, c.epsilon, err)
	}
	c.outcomes = make([]outcome, s.repeats)
	name := uint64(crc32.ChecksumIEEE([]byte(c.name))) // a stream of its own, whatever else is in the sweep; the same on all features
	for k := range s.repeats {
		key := fmt.Sprintf("%s %s %g %d", c.task.features, c.name, c.epsilon, k)
		values, err := env.Checkpoint.Do(key, func() ([]float64, error) {
			began := time.Now()
			out, err := c.task.run(ctx, c.course.recipe, experiment.Stream(env.Seed, 8, name, math.Float64bits(c.epsilon), uint64(k)))
			return []float64{out.accuracy, out.bytes, out.noise, out.rate, time.Since(began).Seconds()}, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		c.outcomes[k] = outcome{accuracy: values[0], bytes: values[1], noise: values[2], rate: values[3]}
		c.seconds += values[4] / float64(s.repeats)
		env.Progress.Step()
	}
	return nil
}
