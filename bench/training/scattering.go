package training

import (
	"context"
	"fmt"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// scatteringExperiment compares what can follow the scattering transform.
func scatteringExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "scattering",
		Title:  "Test accuracy with variants of the features scatter, against central ε",
		Source: "Our own search for features; no paper",
		Bind: func(flags *flag.FlagSet) experiment.Run {
			list := flags.String("central", "0.25,1", "comma-separated `list` of ε of the whole run")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				centrals, err := parseEpsilons("--central", *list)
				if err != nil {
					return nil, err
				}
				if centrals == nil {
					return nil, fl.Invalid("--central", *list, "must be at least one number")
				}
				return runScattering(ctx, env, centrals)
			}
		},
	}
}

// variant is what follows the transform, and the public pictures that it is fitted on.
type variant struct {
	digits, textures int
	features.Fitting
}

func (v variant) String() string {
	return fmt.Sprintf("%s; %d components; whitening %g; logarithm %g", v.fittedOn(), v.Components, v.Whitening, v.Logarithm)
}

// variants returns the variants of the catalogue and their neighbours.
func variants() []variant {
	of := func(digits, textures, components int, whitening, logarithm float64) variant {
		return variant{digits, textures, features.Fitting{
			Channels: features.ScatterChannels, Components: components, Whitening: whitening, Logarithm: logarithm, Bias: 0.3,
		}}
	}
	return []variant{
		of(1000, 0, 100, 0, 0), // scatter
		of(500, 500, 100, 0, 0),
		of(500, 500, 100, 0, 1),
		of(500, 500, 100, 0.25, 0),
		of(500, 500, 100, 0.25, 1), // scatter-log
		of(500, 500, 100, 0.5, 1),
		of(500, 500, 64, 0.25, 1),
		of(500, 500, 150, 0.25, 1),
		of(1000, 0, 100, 0.25, 1),
		of(1000, 1000, 100, 0.25, 1),
	}
}

// publicPictures is the seed of the pictures that variants are fitted on. No data set of a run has them.
const publicPictures = 1 << 40

// runScattering trains with every variant. The transform is computed once.
func runScattering(ctx context.Context, env experiment.Env, centrals []float64) (*experiment.Result, error) {
	all := variants()
	s := sweep{rounds: 30, delta: 1e-6, centrals: centrals, repeats: env.RepeatsOr(1), server: server{momentum: -1, averaging: -1}}
	options := dataset.Options{Source: env.Data, Seed: env.Seed}
	if env.Quick {
		options.TrainSize, options.TestSize = 3000, 500
		s.rounds, all = 5, all[3:5]
	}
	var err error
	if s.contenders, err = parseContenders("auto,none"); err != nil {
		return nil, err
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	scatter, err := features.Scatter(data.Train.Rows, data.Train.Cols)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("scattering")
	note := data.Note
	if data, err = data.In(ctx, scatter, env.Progress); err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"fitted_on", "components", "whitening", "logarithm", "mechanism", "epsilon_central", "accuracy", "low", "high", "repeats", "planned_noise", "clients", "rounds"},
		Notes: []string{
			note + fmt.Sprintf(". %d clients with one picture each, %d rounds, softmax regression, δ = %g, the planner's mechanism in one process.", data.Train.Len(), s.rounds, s.delta),
			"fitted_on are the public pictures that give sizes, mean and components. whitening and logarithm are as in features.Fitting.",
			"Differences between single runs may be chance. Numbers on MNIST decide nothing: the features of the catalogue were chosen on generated pictures.",
		},
		Quick: env.Quick,
	}
	env.Progress.Describe("variants")
	for _, v := range all {
		cells, err := s.withVariant(ctx, env, data, scatter, v)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", v, err)
		}
		for _, c := range cells {
			a := c.accuracy()
			r.Rows = append(r.Rows, experiment.Row{
				v.fittedOn(), v.Components, v.Whitening, v.Logarithm, c.name, orNil(c.course.central), a.Value, a.Low, a.High, len(c.outcomes), orNil(c.course.noise), c.demands.Clients, c.course.rounds,
			})
		}
	}
	return r, nil
}

// withVariant trains on one variant. The data are vectors of the transform.
func (s sweep) withVariant(ctx context.Context, env experiment.Env, data *dataset.Data, scatter features.Features, v variant) ([]*cell, error) {
	tail, err := v.fit(ctx, scatter)
	if err != nil {
		return nil, err
	}
	if data, err = data.In(ctx, tail, nil); err != nil {
		return nil, err
	}
	t := &task{features: v.String(), opened: tail, pretraining: "none", train: data.Train, test: data.Test, clients: data.Train.Len()}
	if t.model, err = trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: tail.Dim()}, data.Train.Classes); err != nil {
		return nil, err
	}
	public, err := dataset.Generate(ctx, dataset.Options{TrainSize: publicClients, TestSize: 1, Seed: 1})
	if err != nil {
		return nil, err
	}
	for _, f := range []features.Features{scatter, tail} {
		if public, err = public.In(ctx, f, nil); err != nil {
			return nil, err
		}
	}
	demands := plan.Training{Dim: t.model.Dim(), Clients: t.clients, Rounds: s.rounds, Delta: s.delta, Centred: features.Centred(tail)}
	if demands.L1, demands.L2, err = trainer.GradientNorms(t.model, t.model.Init(experiment.Stream(1)), public.Train.All(), public.Train.Labels); err != nil {
		return nil, err
	}
	cells := s.cells(t, demands)
	if err := s.plan(ctx, env, cells); err != nil {
		return nil, err
	}
	env.Progress.Grow(len(cells) * s.repeats)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, c := range cells {
		group.Go(func() error { return s.measure(ctx, env, c) })
	}
	return cells, group.Wait()
}

// fit fits what follows the transform, on vectors of public pictures.
func (v variant) fit(ctx context.Context, scatter features.Features) (*features.Pipeline, error) {
	var examples [][]float64
	for _, part := range []struct {
		source string
		n      int
	}{{dataset.Generated, v.digits}, {dataset.Textures, v.textures}} {
		if part.n == 0 {
			continue
		}
		public, err := dataset.Load(ctx, dataset.Options{Source: part.source, TrainSize: part.n, TestSize: 1, Seed: publicPictures})
		if err != nil {
			return nil, err
		}
		if public, err = public.In(ctx, scatter, nil); err != nil {
			return nil, err
		}
		examples = append(examples, public.Train.All()...)
	}
	vectors, err := features.Identity(scatter.Dim())
	if err != nil {
		return nil, err
	}
	return features.Fit(ctx, vectors, features.Public{Recipe: fmt.Sprintf("%s, seed %d", v, uint64(publicPictures)), Examples: examples}, v.Fitting, nil)
}

func (v variant) fittedOn() string {
	if v.textures == 0 {
		return fmt.Sprintf("%d digits", v.digits)
	}
	return fmt.Sprintf("%d digits, %d textures", v.digits, v.textures)
}
