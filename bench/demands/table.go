package demands

import (
	"context"
	"fmt"
	"slices"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func table4() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table4-hetero",
		Title:   "Histograms of clients with different demands: the paper's weights, ours and the baselines",
		Source:  paper + ", Table 4 and Figures 1 and 2",
		Without: []string{experiment.FlagData},
		Bind: func(*flag.FlagSet) experiment.Run {
			return table{number: 4, laws: histogramLaws(), claims: histogramClaims, panels: histogramPanels, columns: 3}.run
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
			return table{number: 5, laws: meanLaws(), claims: meanClaims, panels: lawPanels, columns: 2}.run
		},
	}
}

// table is one of the paper's tables.
type table struct {
	number  uint64
	laws    []law
	claims  func([]group) []experiment.Verdict
	panels  func([]group) []figure.Panel
	columns int // of the picture
}

// group is what was measured under one law: numbers by measure, scheme and data set.
type group struct {
	law
	list    []scheme
	errors  [2][][]float64
	risks   [2][][]float64
	lower   []float64 // bounds by data set
	upper   []float64
	curves  [][]float64 // by scheme, of the first data set: curvePoints quantiles of the error
	repeats int
}

// curvePoints is how many quantiles are kept of the errors of a scheme: i/curvePoints for i = 1, 2, ….
const curvePoints = 20

func newGroup(l law, sets, repeats int) group {
	g := group{law: l, repeats: repeats, list: l.schemes(), lower: make([]float64, sets), upper: make([]float64, sets)}
	if l.curve {
		g.curves = make([][]float64, len(g.list))
	}
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
	sets, repeats := 20, env.RepeatsOfSeed(200, 40)
	if env.Seeds > 1 {
		sets = 8 // of each seed
	}
	if env.Quick {
		sets, repeats = 4, env.RepeatsOr(20)
	}
	env.Progress.Describe(fmt.Sprintf("table%d-hetero", t.number))
	env.Progress.Grow(len(t.laws) * sets)
	groups := make([]group, len(t.laws))
	jobs, ctx := errgroup.WithContext(ctx)
	jobs.SetLimit(env.Jobs)
	for i, l := range t.laws {
		groups[i] = newGroup(l, sets, repeats)
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
	if want := 2 + 2*len(measures)*len(g.list) + curvePoints*len(g.curves); len(numbers) != want {
		return fmt.Errorf("the checkpoint has %d numbers for a data set, want %d", len(numbers), want)
	}
	g.lower[d], g.upper[d], numbers = numbers[0], numbers[1], numbers[2:]
	for m := range measures {
		for s := range g.list {
			g.errors[m][s][d], g.risks[m][s][d], numbers = numbers[0], numbers[1], numbers[2:]
		}
	}
	if d == 0 {
		for s := range g.curves {
			g.curves[s], numbers = numbers[:curvePoints], numbers[curvePoints:]
		}
	}
	return nil
}

// measure draws a data set with its demands and repeats the mechanisms on it. Without
// correlation every repeat permutes the data, for all schemes alike. It returns both bounds
// and, for each measure and scheme, the error and the risk; then the quantiles of the errors with the
// weights for the quantile where they are drawn.
func (l law) measure(ctx context.Context, seed uint64, repeats int, key ...uint64) ([]float64, error) {
	if err := ctx.Err(); err != nil { // before the weights, which take most of the time
		return nil, err
	}
	p := l.draw(experiment.Stream(seed, key...))
	lower, upper, err := bounds(p, l.correlated)
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
	numbers := []float64{lower, upper}
	for i := range estimators {
		numbers = append(numbers, measures[i/len(list)].of(errors[i]), risks[i])
	}
	if !l.curve {
		return numbers, nil
	}
	for _, found := range errors[:len(list)] { // sorted by the quantile
		for i := range curvePoints {
			numbers = append(numbers, found[((i+1)*len(found)+curvePoints-1)/curvePoints-1])
		}
	}
	return numbers, nil
}
