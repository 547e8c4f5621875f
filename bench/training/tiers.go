package training

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/baseline"
	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
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
	name    string
	round   fl.Round
	reports int    // of a round
	encode  member // nil: everybody takes part
}

// strategiesFor are what is compared.
func strategiesFor(menu []tier, dim, cohort int) []strategy {
	at := func(epsilon float64) fl.Round {
		return fl.Round{
			ID: "bench", Mechanism: coco.Name, Dim: dim, Scale: 0.5, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
			PublicSeed: [32]byte{1}, // replaced in every round
			Params:     fl.Params{sparse.ParamSparsity: fl.Int(40)},
		}
	}
	permitted := 0
	for i := range cohort {
		if tierOf(menu, i, cohort) == len(menu)-1 {
			permitted++
		}
	}
	strictest, permissive := at(menu[0].epsilon), at(menu[len(menu)-1].epsilon)
	mixed := permissive
	mixed.Mechanism = tiers.Name
	mixed.Params = mixed.Params.With(tiers.ParamBase, fl.Text(coco.Name)).With(tiers.ParamMenu, fl.Text(offer(menu)))
	return []strategy{
		{"mixed tiers", mixed, cohort, func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
			return m.(fl.TieredMechanism).EncodeTier(dst, tierOf(menu, i, cohort), grad, rng)
		}},
		{"everybody at the smallest ε", strictest, cohort, nil},
		{"only the most permissive tier", permissive, permitted, func(m fl.Mechanism, dst []byte, i int, grad []float64, rng *rand.Rand) ([]byte, error) {
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
		open: func(clients holders, rng *rand.Rand) (rounds, error) {
			gradients, err := clients.On(model, true)
			if err != nil {
				return nil, err
			}
			return trainer.NewSimulation(trainer.SimulationConfig{
				Gradients: gradients, Cohort: cohort, Describe: func(int) fl.Round { return s.round }, Encode: s.encode, Rand: rng,
			})
		},
		steps: tierSteps,
	}
}

// tierSteps returns the steps of all runs.
func tierSteps(float64) plan.Steps { return plan.Steps{LearningRate: 1.25, Momentum: 0.5} }

// course is the strategy's recipe with its promise to a client, which reports once. A report shows its
// tier, so the promise is the last tier's promise.
func (s strategy) course(ctx context.Context, model *trainer.Model, cohort, n int) (course, error) {
	_, m, err := fl.Complete(s.round)
	if err != nil {
		return course{}, err
	}
	spending, err := plan.NewSpending(m, s.reports, s.reports, tierDelta)
	if err != nil {
		return course{}, err
	}
	promise, err := spending.Promise(ctx, 1)
	return course{
		recipe: s.recipe(model, cohort, n), participations: 1, round: s.round,
		local: promise.Local, localDelta: promise.LocalDelta, central: promise.Central,
	}, err
}

// tierDelta is where central ε are stated.
const tierDelta = 1e-6

// tierCells are the strategies and the runs that stand beside them: without privacy, and of a trusted
// server at the same central ε. Each client takes part once in all of them.
func tierCells(ctx context.Context, t *task, menu []tier, cohort, n int) (cells, beside []*cell, err error) {
	demands, err := sweep{rounds: n, delta: tierDelta}.demands(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	demands.Clients = cohort * n
	s := setting{Training: demands, model: t.model}
	plain := &cell{contender: contender{name: baseline.None}, task: t}
	if plain.course, err = plain.rounds(ctx, s, 1, s.round(baseline.None, math.Inf(1), 1, 0)); err != nil {
		return nil, nil, err
	}
	plain.course.steps = tierSteps
	beside = append(beside, plain)
	for _, strategy := range strategiesFor(menu, t.model.Dim(), cohort) {
		c := &cell{contender: contender{name: strategy.name}, task: t, plain: plain}
		if c.course, err = strategy.course(ctx, t.model, cohort, n); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", strategy.name, err)
		}
		cells = append(cells, c)
		if epsilon := c.budget(); epsilon > 0 {
			g, err := central.New(epsilon, tierDelta, 1, demands.L2)
			if err != nil {
				return nil, nil, err
			}
			c.trusted = &cell{contender: contender{name: fmt.Sprintf("%s %g", trustedName, epsilon)}, task: t, course: course{recipe: recipe{
				rounds: n, cohort: cohort, steps: tierSteps,
				open: func(clients holders, rng *rand.Rand) (rounds, error) {
					return newTrusted(g, t.model, clients, cohort, 0, rng)
				},
			}}}
			beside = append(beside, c.trusted)
		}
	}
	return cells, beside, nil
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
	cells, beside, err := tierCells(ctx, t, menu, cohort, rounds)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("tiers")
	all := slices.Concat(cells, beside)
	env.Progress.Grow(len(all) * repeats)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for _, c := range all {
		c.outcomes = make([]outcome, repeats)
		for k := range repeats {
			group.Go(func() error {
				defer env.Progress.Step()
				values, err := env.Checkpoint.Do(fmt.Sprintf("%s %d", c.name, k), func() ([]float64, error) {
					// The same clients and order in every run of a repeat.
					out, err := t.run(ctx, c.course.recipe, experiment.Stream(env.Seed, 7, uint64(k)))
					return []float64{out.accuracy}, err
				})
				if err == nil {
					c.outcomes[k].accuracy = values[0]
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return tiersReport(cells, data.Note,
		fmt.Sprintf("Softmax regression on 14×14 pixels, %d rounds of %d clients, each once; local %s; %d repeats.", rounds, cohort, describe(menu), repeats)), nil
}
