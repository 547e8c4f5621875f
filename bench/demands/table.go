package demands

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func table4() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table4-hetero",
		Title:   "Histograms of clients with different demands: the paper's weights, ours and the baselines",
		Source:  paper + ", Table 4 and Figures 1 and 2",
		Without: []string{experiment.FlagData},
		Bind: func(*flag.FlagSet) experiment.Run {
			return table{number: 4, laws: histogramLaws(), claims: histogramClaims}.run
		},
	}
}

func table5() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table5-hetero",
		Title:   "Means of clients with different demands: the paper's weights and the baselines",
		Source:  paper + ", Table 5",
		Without: []string{experiment.FlagData},
		Bind: func(*flag.FlagSet) experiment.Run {
			return table{number: 5, laws: meanLaws(), claims: meanClaims}.run
		},
	}
}

// table is one of the paper's tables.
type table struct {
	number uint64
	laws   []law
	claims func([]group) []experiment.Verdict
}

// group is what was measured under one law: numbers by measure, scheme and data set.
type group struct {
	law
	list   []scheme
	errors [2][][]float64
	risks  [2][][]float64
	bounds []float64 // by data set
}

func newGroup(l law, sets int) group {
	g := group{law: l, list: l.schemes(), bounds: make([]float64, sets)}
	for m := range measures {
		for range g.list {
			g.errors[m] = append(g.errors[m], make([]float64, sets))
			g.risks[m] = append(g.risks[m], make([]float64, sets))
		}
	}
	return g
}

// of returns the errors of a scheme by data set.
func (g group) of(m measure, name string) []float64 {
	return g.errors[m][slices.IndexFunc(g.list, func(s scheme) bool { return s.name == name })]
}

func (t table) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	sets, repeats := 20, env.RepeatsOr(200)
	if env.Quick {
		sets, repeats = 4, env.RepeatsOr(40)
	}
	env.Progress.Describe(fmt.Sprintf("table%d-hetero", t.number))
	env.Progress.Grow(len(t.laws) * sets)
	groups := make([]group, len(t.laws))
	jobs, ctx := errgroup.WithContext(ctx)
	jobs.SetLimit(env.Jobs)
	for i, l := range t.laws {
		groups[i] = newGroup(l, sets)
		for d := range sets {
			jobs.Go(func() error {
				defer env.Progress.Step()
				numbers, err := env.Checkpoint.Do(fmt.Sprintf("%s/%d", l.name, d), func() ([]float64, error) {
					return l.measure(ctx, env.Seed, repeats, t.number, uint64(i), uint64(d))
				})
				if err != nil {
					return fmt.Errorf("%s: %w", l.name, err)
				}
				return groups[i].keep(d, numbers)
			})
		}
	}
	if err := jobs.Wait(); err != nil {
		return nil, err
	}
	return t.report(groups, sets, repeats)
}

// keep takes the numbers of a data set apart as measure puts them together.
func (g group) keep(d int, numbers []float64) error {
	if want := 1 + 2*len(measures)*len(g.list); len(numbers) != want {
		return fmt.Errorf("the checkpoint has %d numbers for a data set, want %d", len(numbers), want)
	}
	g.bounds[d], numbers = numbers[0], numbers[1:]
	for m := range measures {
		for s := range g.list {
			g.errors[m][s][d], g.risks[m][s][d], numbers = numbers[0], numbers[1], numbers[2:]
		}
	}
	return nil
}

// measure draws a data set with its demands and repeats the mechanisms on it. Without
// correlation every repeat permutes the data, for all schemes alike. It returns the lower bound
// and, for each measure and scheme, the error and the risk.
func (l law) measure(ctx context.Context, seed uint64, repeats int, key ...uint64) ([]float64, error) {
	p := l.draw(experiment.Stream(seed, key...))
	bound, err := lowerBound(p, l.correlated)
	if err != nil {
		return nil, err
	}
	list := l.schemes()
	estimators, risks := make([]estimator, 0, 2*len(list)), make([]float64, 0, 2*len(list))
	for _, m := range measures {
		for _, s := range list {
			e, risk, err := s.prepare(p, l.correlated, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			estimators, risks = append(estimators, e), append(risks, risk)
		}
	}
	errors := make([][]float64, len(estimators))
	for r := range repeats {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !l.correlated {
			rng := experiment.Stream(seed, append(slices.Clone(key), 1, uint64(r))...)
			rng.Shuffle(len(p.values), func(i, j int) { p.values[i], p.values[j] = p.values[j], p.values[i] })
			rng.Shuffle(len(p.reals), func(i, j int) { p.reals[i], p.reals[j] = p.reals[j], p.reals[i] })
		}
		for i, estimate := range estimators {
			got, err := estimate(p.values, p.reals, experiment.Stream(seed, append(slices.Clone(key), 2, uint64(r), uint64(i))...))
			if err != nil {
				return nil, err
			}
			errors[i] = append(errors[i], largestError(got, p.truth))
		}
	}
	numbers := []float64{bound}
	for i := range estimators {
		numbers = append(numbers, measures[i/len(list)].of(errors[i]), risks[i])
	}
	return numbers, nil
}
