package training

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/tiers"
)

func tiersExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "tiers",
		Title:  "Training when clients choose their own ε: mixed, everybody strict, only the permissive",
		Source: `Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under Heterogeneous Privacy: A Worst-Case Analysis", in federated rounds`,
		Bind: func(*flag.FlagSet) experiment.Run {
			return runTiers
		},
	}
}

// The population: half of the clients at ε = 0.5, three in ten at 2, two in ten at 8.
const (
	demanded   = "0.5,2,8"
	strictest  = 0.5
	permissive = 8
)

// demandOf is the tier of client i of a cohort of n.
func demandOf(i, n int) int {
	switch place := (float64(i) + 0.5) / float64(n); {
	case place < 0.5:
		return 0
	case place < 0.8:
		return 1
	}
	return 2
}

// strategy is a way to treat the same population.
type strategy struct {
	name     string
	describe func(dim int) fl.Round
	encode   func(cohort int) member
}

func plain(epsilon float64) func(int) fl.Round {
	return func(dim int) fl.Round {
		return fl.Round{
			ID: "bench", Mechanism: coco.Name, Dim: dim, Scale: 0.5, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
			Params: fl.Params{"sparsity": fl.Int(40)},
		}
	}
}

var strategies = []strategy{
	{
		"mixed tiers",
		func(dim int) fl.Round {
			r := plain(permissive)(dim)
			r.Mechanism = tiers.Name
			r.Params = r.Params.With(tiers.ParamBase, fl.Text(coco.Name)).With(tiers.ParamMenu, fl.Text(demanded))
			return r
		},
		func(cohort int) member {
			return func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
				return m.(fl.TieredMechanism).EncodeTier(dst, demandOf(i, cohort), grad, rng)
			}
		},
	},
	{"everybody at the smallest ε", plain(strictest), func(int) member { return everyone }},
	{
		"only the most permissive tier", plain(permissive),
		func(cohort int) member {
			return func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
				if demandOf(i, cohort) != 2 {
					return dst, nil
				}
				return m.Encode(dst, grad, rng)
			}
		},
	},
}

// recipe is the strategy as a run, every client in one round.
func (s strategy) recipe(dim, cohort, rounds int) recipe {
	return recipe{
		rounds: rounds, cohort: cohort, shrunk: true,
		open: func(rng *rand.Rand) (collector, error) {
			return openRound(s.describe(dim), s.encode(cohort), rng)
		},
		steps: func(float64) plan.Steps { return plan.Steps{LearningRate: 1.25, Momentum: 0.5} },
	}
}

func runTiers(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	options, cohort, rounds, repeats := dataset.Options{Dir: env.Data, Seed: env.Seed}, 2000, 30, env.RepeatsOr(5)
	if env.Quick {
		options.TrainSize, options.TestSize, cohort, rounds, repeats = 9000, 1000, 1500, 6, env.RepeatsOr(3)
	}
	data, err := dataset.Load(ctx, options)
	if err != nil {
		return nil, err
	}
	if data.Train.Len() < cohort*rounds {
		return nil, fl.Invalid("clients", data.Train.Len(), "must be at least rounds × cohort = %d × %d", rounds, cohort)
	}
	t, err := newTask(data, pooled)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("tiers")
	env.Progress.Grow(len(strategies) * repeats)
	accuracies := make([][]float64, len(strategies))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i, s := range strategies {
		accuracies[i] = make([]float64, repeats)
		for k := range repeats {
			group.Go(func() error {
				defer env.Progress.Step()
				values, err := env.Checkpoint.Do(fmt.Sprintf("%s %d", s.name, k), func() ([]float64, error) {
					// The same clients and order for every strategy of a repeat.
					out, err := t.run(ctx, s.recipe(t.model.Dim(), cohort, rounds), experiment.Stream(env.Seed, 7, uint64(k)))
					return []float64{out.accuracy}, err
				})
				if err == nil {
					accuracies[i][k] = values[0]
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return tiersReport(accuracies, data.Note, cohort, rounds, repeats), nil
}

func tiersReport(accuracies [][]float64, note string, cohort, rounds, repeats int) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"strategy", "accuracy", "stderr", "lowest", "highest"},
		Notes: []string{
			note,
			fmt.Sprintf("Softmax regression on 14×14 pixels, %d rounds of %d clients, each once; local ε 0.5 for half of them, 2 for 30 %%, 8 for 20 %%; %d repeats.", rounds, cohort, repeats),
			"Error bars: two standard errors.",
		},
	}
	panel := figure.Panel{YLabel: "test accuracy", YRange: [2]float64{0, 1}}
	bars := figure.Series{Style: figure.Bars}
	means, errs := make([]float64, len(strategies)), make([]float64, len(strategies))
	for i, s := range strategies {
		var deviation float64
		means[i], deviation = stat.MeanStdDev(accuracies[i], nil)
		if repeats > 1 {
			errs[i] = deviation / math.Sqrt(float64(repeats))
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, a := range accuracies[i] {
			low, high = min(low, a), max(high, a)
		}
		r.Rows = append(r.Rows, experiment.Row{s.name, means[i], errs[i], low, high})
		panel.Categories = append(panel.Categories, s.name)
		bars.Y = append(bars.Y, means[i])
		bars.YLow, bars.YHigh = append(bars.YLow, means[i]-2*errs[i]), append(bars.YHigh, means[i]+2*errs[i])
		if i > 0 {
			gap, noise := means[0]-means[i], math.Hypot(errs[0], errs[i])
			detail := fmt.Sprintf("%.3f against %.3f", means[0], means[i])
			if noise > 0 { // one repeat has no standard error
				detail += fmt.Sprintf(", by %.1f standard errors", gap/noise)
			}
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim: fmt.Sprintf("mixed tiers train better than with %s", s.name), Holds: gap > 2*noise, Detail: detail,
			})
		}
	}
	panel.Series = []figure.Series{bars}
	r.Plot = &figure.Figure{Title: "Clients choose their own ε", Panels: []figure.Panel{panel}}
	return r
}
