package keyvalues

import (
	"context"
	"flag"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/internal/experiment"
)

// figure is one of the paper's: an error against ε, with one panel per sparsity.
type figure struct {
	number     int
	metric     int // of metricNames
	users, dim int
	title      string
}

// Which setting the paper shows in which figure is our reading; every setting of its
// text is in one of them.
var figures = []figure{
	{6, 0, 10_000, 256, "frequencies, total variation"},
	{7, 0, 100_000, 256, "frequencies, total variation"},
	{8, 0, 100_000, 512, "frequencies, total variation"},
	{9, 1, 10_000, 256, "frequencies, largest error"},
	{10, 1, 100_000, 256, "frequencies, largest error"},
	{11, 1, 100_000, 512, "frequencies, largest error"},
	{12, 3, 10_000, 256, "means, largest error"},
	{13, 3, 100_000, 256, "means, largest error"},
	{14, 2, 100_000, 512, "means, total variation"},
	{15, 4, 100_000, 512, "means after projection, total variation"},
	{16, 5, 100_000, 512, "means after projection, largest error"},
}

func (f figure) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name:   fmt.Sprintf("fig%d", f.number),
		Title:  fmt.Sprintf("Key-value pairs: %s, n = %d, d = %d", f.title, f.users, f.dim),
		Source: fmt.Sprintf("%s, Figure %d", paper, f.number),
		Bind: func(flags *flag.FlagSet) experiment.Run {
			users := flags.Int("clients", 0, "number of users; 0: the figure's")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				f := f
				if *users > 0 {
					f.users = *users
				}
				return f.run(ctx, env)
			}
		},
	}
}

// grid is what a figure sweeps over.
type grid struct {
	epsilons   []float64
	sparsities []int
	repeats    int
}

func (f figure) grid(env experiment.Env) grid {
	if env.Quick {
		return grid{epsilons: []float64{0.1, 0.8, 2}, sparsities: []int{4, 16}, repeats: env.RepeatsOr(2)}
	}
	return grid{
		epsilons:   []float64{0.001, 0.01, 0.1, 0.2, 0.4, 0.8, 1, 1.5, 2},
		sparsities: []int{4, 8, 16, 32},
		repeats:    env.RepeatsOr(100),
	}
}

// cell is one mechanism at one ε and one sparsity.
type cell struct {
	contender, epsilon, sparsity int // indices
	mean, stderr                 float64
}

func (f figure) run(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	g := f.grid(env)
	if env.Quick {
		f.users = min(f.users, 10_000)
	}
	env.Progress.Describe(fmt.Sprintf("fig%d", f.number))
	env.Progress.Grow(len(contenders) * len(g.epsilons) * len(g.sparsities))
	var cells []*cell
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i, s := range g.sparsities {
		p, err := newPopulation(f.users, f.dim, s, experiment.Stream(env.Seed, 6, uint64(f.users), uint64(f.dim), uint64(s)))
		if err != nil {
			return nil, err
		}
		for j, c := range contenders {
			if c.meansOnly && f.metric < firstMean {
				continue
			}
			for k := range g.epsilons {
				at := &cell{contender: j, epsilon: k, sparsity: i, mean: math.NaN()}
				cells = append(cells, at)
				group.Go(func() error {
					defer env.Progress.Step()
					return f.measure(ctx, env, g, p, at)
				})
			}
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return f.report(g, cells), nil
}

// measure fills a cell from its repeats, each with randomness of its own.
func (f figure) measure(ctx context.Context, env experiment.Env, g grid, p *population, at *cell) error {
	c, epsilon := contenders[at.contender], g.epsilons[at.epsilon]
	key := fmt.Sprintf("%s n=%d d=%d s=%d eps=%g", c.label, len(p.pairs), p.dim, p.sparsity, epsilon)
	values, err := env.Checkpoint.Do(key, func() ([]float64, error) {
		var errors []float64
		for i := range g.repeats {
			rng := experiment.Stream(env.Seed, 61, uint64(at.contender), math.Float64bits(epsilon), uint64(p.sparsity), uint64(len(p.pairs)), uint64(p.dim), uint64(i))
			e, err := c.measure(ctx, p, epsilon, f.metric, rng)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			errors = append(errors, e)
		}
		return errors, nil
	})
	if err != nil {
		return err
	}
	var deviation float64
	at.mean, deviation = stat.MeanStdDev(values, nil)
	if len(values) > 1 {
		at.stderr = deviation / math.Sqrt(float64(len(values)))
	}
	return nil
}

func (f figure) report(g grid, cells []*cell) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"sparsity", "epsilon", "mechanism", metricNames[f.metric], "log_error", "stderr"},
		Notes: []string{
			fmt.Sprintf("n = %d, d = %d, %d repeats; the paper draws natural logarithms of errors, the column log_error.", f.users, f.dim, g.repeats),
			"Keys are drawn with popularity 1/√(k+1) and signs with a bias that depends on the key; the paper does not say how its vectors are drawn.",
			"PCKV pads to the sparsity. PCKV-GRR has the budget of its theorem with padding length 1, PCKV-AGRR with the padding gain.",
		},
		Plot: &experiment.Figure{Columns: 2},
	}
	for i, s := range g.sparsities {
		panel := experiment.Panel{Title: fmt.Sprintf("s = %d", s), XLabel: "ε", YLabel: metricNames[f.metric], LogX: true, LogY: true}
		for j, c := range contenders {
			series := experiment.Series{Name: c.label, Style: experiment.LinePoints}
			for _, at := range cells {
				if at.sparsity != i || at.contender != j {
					continue
				}
				e := g.epsilons[at.epsilon]
				series.X, series.Y = append(series.X, e), append(series.Y, at.mean)
				series.YLow, series.YHigh = append(series.YLow, at.mean-2*at.stderr), append(series.YHigh, at.mean+2*at.stderr)
				r.Rows = append(r.Rows, experiment.Row{s, e, c.label, at.mean, math.Log(at.mean), at.stderr})
			}
			if len(series.X) > 0 {
				panel.Series = append(panel.Series, series)
			}
		}
		r.Plot.Panels = append(r.Plot.Panels, panel)
	}
	r.Verdicts = f.verdicts(g, cells)
	return r
}
