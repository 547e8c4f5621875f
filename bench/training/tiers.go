package training

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/tiers"
	"github.com/hushgrad/hushgrad/trainer"
)

// commonTiers are half of the clients at ε = 0.5, three in ten at 2 and two in ten at 8.
const commonTiers = "0.5:0.5,2:0.3,8:0.2"

func tiersExperiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   "tiers",
		Title:  "Training when clients choose their own ε: mixed, everybody strict, only the permissive",
		Source: `Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation Under Heterogeneous Privacy: A Worst-Case Analysis", in federated rounds`,
		Bind: func(flags *flag.FlagSet) experiment.Run {
			text := flags.String("tiers", commonTiers, "what the clients choose: `list` of ε:share")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				menu, err := parseTiers(*text)
				if err != nil {
					return nil, err
				}
				return runTiers(ctx, env, menu)
			}
		},
	}
}

// tierOf is the tier of client i of a cohort of n. Clients are in random order, and every
// cohort has the same share of each.
func tierOf(menu []tier, i, n int) int {
	place := (float64(i) + 0.5) / float64(n)
	for k, t := range menu {
		if place -= t.share; place < 0 {
			return k
		}
	}
	return len(menu) - 1
}

// offer is the menu as a parameter of a round.
func offer(menu []tier) string {
	var out []string
	for _, t := range menu {
		out = append(out, strconv.FormatFloat(t.epsilon, 'g', -1, 64))
	}
	return strings.Join(out, ",")
}

// describe states the shares of the tiers.
func describe(menu []tier) string {
	var out []string
	for _, t := range menu {
		out = append(out, fmt.Sprintf("ε = %g for %g %%", t.epsilon, 100*t.share))
	}
	return strings.Join(out, ", ") + " of the clients"
}

// member encodes the gradient of client number i of a cohort, or returns dst if the
// client does not take part.
type member func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error)

// strategy is a way to treat the same clients.
type strategy struct {
	name   string
	round  fl.Round
	encode member // nil: everybody takes part
}

// strategiesFor are what is compared.
func strategiesFor(menu []tier, dim, cohort int) []strategy {
	at := func(epsilon float64) fl.Round {
		return fl.Round{
			ID: "bench", Mechanism: coco.Name, Dim: dim, Scale: 0.5, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
			Params: fl.Params{sparse.ParamSparsity: fl.Int(40)},
		}
	}
	strictest, permissive := at(menu[0].epsilon), at(menu[len(menu)-1].epsilon)
	mixed := permissive
	mixed.Mechanism = tiers.Name
	mixed.Params = mixed.Params.With(tiers.ParamBase, fl.Text(coco.Name)).With(tiers.ParamMenu, fl.Text(offer(menu)))
	return []strategy{
		{"mixed tiers", mixed, func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.(fl.TieredMechanism).EncodeTier(dst, tierOf(menu, i, cohort), grad, rng)
		}},
		{"everybody at the smallest ε", strictest, nil},
		{"only the most permissive tier", permissive, func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
			if tierOf(menu, i, cohort) != len(menu)-1 {
				return dst, nil
			}
			return m.Encode(dst, grad, rng)
		}},
	}
}

// recipe is the strategy as a run.
func (s strategy) recipe(model *trainer.Model, cohort, n int) recipe {
	return recipe{
		rounds: n, cohort: cohort,
		open: func(clients *trainer.Clients, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(model, true)
			if err != nil {
				return nil, err
			}
			return trainer.NewSimulation(trainer.SimulationConfig{
				Gradients: gradients, Cohort: cohort, Describe: func(int) fl.Round { return s.round }, Encode: s.encode, Rand: rng,
			})
		},
		steps: func(float64) plan.Steps { return plan.Steps{LearningRate: 1.25, Momentum: 0.5} },
	}
}

func runTiers(ctx context.Context, env experiment.Env, menu []tier) (*experiment.Result, error) {
	options, cohort, rounds, repeats := dataset.Options{Source: env.Data, Seed: env.Seed}, 2000, 30, env.RepeatsOr(5)
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
	t, err := newTask(ctx, env, data, dataset.Grey)
	if err != nil {
		return nil, err
	}
	strategies := strategiesFor(menu, t.model.Dim(), cohort)
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
					out, err := t.run(ctx, s.recipe(t.model, cohort, rounds), experiment.Stream(env.Seed, 7, uint64(k)))
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
	return tiersReport(strategies, accuracies, repeats, data.Note,
		fmt.Sprintf("Softmax regression on 14×14 pixels, %d rounds of %d clients, each once; local %s; %d repeats.", rounds, cohort, describe(menu), repeats)), nil
}

func tiersReport(strategies []strategy, accuracies [][]float64, repeats int, notes ...string) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"strategy", "accuracy", "stderr", "lowest", "highest"},
		Notes:   append(notes, "Error bars: Student's 95 % interval over the repeats."),
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
		interval := experiment.MeanInterval(accuracies[i])
		bars.YLow, bars.YHigh = append(bars.YLow, interval.Low), append(bars.YHigh, interval.High)
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
	r.Plot = &figure.Figure{Title: "Clients choose their own ε", ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r
}
