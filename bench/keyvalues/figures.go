package keyvalues

import (
	"context"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/vectors"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// paperFigure is one of Wang et al.: an error against ε, with one panel per sparsity.
type paperFigure struct {
	number       int
	by           metric
	clients, dim int
}

// Figure 14's caption repeats Figure 13's. The text uses Figure 14 as the figure of the total variation.
var figures = []paperFigure{
	{6, frequencyTVE, largeClients, 256},
	{7, frequencyMAE, largeClients, 256},
	{8, frequencyTVE, largeClients, 512},
	{9, frequencyMAE, largeClients, 512},
	{10, frequencyTVE, largeClients / 10, 256},
	{11, frequencyMAE, largeClients / 10, 256},
	{12, meanMAE, largeClients, 256},
	{13, meanMAEPost, largeClients, 256},
	{14, meanTVEPost, largeClients, 256},
	{15, meanTVEPost, largeClients, 512},
	{16, meanTVEPost, largeClients / 10, 256},
}

const (
	largeClients = 100_000
	quickClients = 10_000
	maxClients   = 10_000_000 // whose keys fit into memory
)

func (f paperFigure) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    fmt.Sprintf("fig%d", f.number),
		Title:   f.title(),
		Source:  fmt.Sprintf("%s, Figure %d", paper, f.number),
		PartOf:  togetherName,
		Without: []string{experiment.FlagData, experiment.FlagSeeds},
		Bind: bind(func(ctx context.Context, env experiment.Env, clients int, own []experiment.Own) (*experiment.Result, error) {
			return runFigures(ctx, env, clients, own, []paperFigure{f})
		}),
	}
}

func (f paperFigure) title() string {
	return fmt.Sprintf("Key-value pairs: %s, n = %d, d = %d", f.by.title(), f.clients, f.dim)
}

// bind adds the flags that all figures have.
func bind(run func(ctx context.Context, env experiment.Env, clients int, own []experiment.Own) (*experiment.Result, error)) func(*flag.FlagSet) experiment.Run {
	return func(flags *flag.FlagSet) experiment.Run {
		clients := flags.Int("clients", 0, fmt.Sprintf("number of clients where the paper has %d, and a tenth where it has %d; 0: the paper's, with --quick a tenth", largeClients, largeClients/10))
		with := experiment.BindWith(flags)
		return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
			if *clients != 0 && (*clients < 10 || *clients > maxClients) {
				return nil, fl.Invalid("--clients", *clients, "must be 0 or in [10, %d]", maxClients)
			}
			own, err := with()
			if err != nil {
				return nil, err
			}
			return run(ctx, env, *clients, own)
		}
	}
}

// sized returns the figure with the number of clients that a run has.
func (f paperFigure) sized(env experiment.Env, clients int) paperFigure {
	switch {
	case clients > 0:
		f.clients = clients * (f.clients / 1000) / (largeClients / 1000)
	case env.Quick:
		f.clients = f.clients * (quickClients / 1000) / (largeClients / 1000)
	}
	return f
}

// readings are the notes of all figures.
var readings = []string{
	"The columns log_error, low and high are the mean of the natural logarithm of the error over the repeats, as the paper draws it, with its 95 % interval. Every repeat draws clients anew: each has a uniformly random set of s keys, each with −1 or +1 with probability ½.",
	"Frequencies are the frequencies of the 2d items, projected on the simplex of sum s. Post-processed means are differences of projected item frequencies.",
	"Collision and CoCo have the paper's numbers of slots and hash functions. \"CoCo, t by search\" has the best number, and the fast hash functions that rounds have.",
	"PCKV pads to the sparsity. PCKV-GRR has the budget of its theorem with padding length 1, PCKV-AGRR with the padding gain.",
	"PrivKV has ε/2 for the key and ε/2 for the sign. The paper's words may also mean one response among three states with all of ε: \"" + labelThree + "\". SUCCINCT's clip is the proven one. The paper gives no constant, and \"SUCCINCT, smaller clip\" has about √(s·ln(n/β)). SUCCINCT has no frequencies, so that its means are not post-processed. The paper's BRR is left out, because its text does not define it.",
	"\"" + labelZero + "\" is an estimate without any data. True means are of the order √(s/(dn)).",
	"\"minimax lower bound\" is the paper's bound on the expected error for the worst clients that there can be. These clients are easier: their means are 0 but for chance.",
	"Collision, CoCo and SUCCINCT encode every vector. For PCKV and PrivKV the counts of the reports are drawn, from the law that the encoders give them. All estimates but the estimate of \"" + labelThree + "\" come from the aggregators.",
}

// epsilonTitle is the title of the axis of ε in all figures.
const epsilonTitle = "local ε of one report"

// runFigures does the simulations of figures. A run of several has the claims about pairs of them, too.
func runFigures(ctx context.Context, env experiment.Env, clients int, own []experiment.Own, shown []paperFigure) (*experiment.Result, error) {
	for i, f := range shown {
		shown[i] = f.sized(env, clients)
	}
	env.Progress.Describe("simulations")
	st, err := newStudy(newGrid(env), shown, own)
	if err != nil {
		return nil, err
	}
	if err := st.run(ctx, env); err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"figure", "clients", "dim", "sparsity", "epsilon", "mechanism", "metric", "log_error", "low", "high"},
		Notes:   append([]string{fmt.Sprintf("%d repeats, the paper's 100. Verdicts are over all together and over each alone, which has clients of its own.", st.repeats)}, readings...),
		Plot:    &figure.Figure{Columns: len(st.sparsities), ErrorBars: experiment.ErrorBars},
	}
	if len(shown) == 1 {
		r.Plot.Title = shown[0].title()
	}
	for _, f := range shown {
		f.report(r, st)
	}
	var draws [][]experiment.Verdict
	for repeat := range st.repeats {
		draws = append(draws, st.only(repeat).claims(shown))
	}
	r.Verdicts, err = experiment.OverDraws(st.claims(shown), draws)
	return r, err
}

// claims are those about figures, and about pairs of them.
func (st *study) claims(shown []paperFigure) (out []experiment.Verdict) {
	for _, f := range shown {
		out = append(out, st.verdicts(f)...)
	}
	return append(out, st.across(shown)...)
}

// report adds the rows and panels of a figure.
func (f paperFigure) report(r *experiment.Result, st *study) {
	for i, s := range st.sparsities {
		panel := figure.Panel{
			Title:  fmt.Sprintf("Figure %d: n = %d, d = %d, s = %d keys per client", f.number, f.clients, f.dim, s),
			XLabel: epsilonTitle, YLabel: "ln of the " + f.by.title(),
		}
		for j, c := range st.contenders {
			series := figure.Series{Name: c.label, Of: c.of, Style: figure.LinePoints}
			for k, epsilon := range st.epsilons {
				values := st.of(f, i, j, k)
				if values == nil {
					continue
				}
				mean := experiment.MeanInterval(values)
				r.Rows = append(r.Rows, experiment.Row{f.number, f.clients, f.dim, s, epsilon, c.label, f.by.name(), mean.Value, mean.Low, mean.High})
				if c.of != "" || c.reference { // without error bars
					series.Style = figure.Dashed
					series.X, series.Y = append(series.X, epsilon), append(series.Y, mean.Value)
					continue
				}
				series.Add(epsilon, mean.Value, mean.Low, mean.High)
			}
			if len(series.X) > 0 {
				panel.Series = append(panel.Series, series)
			}
		}
		if f.by == meanTVEPost {
			panel.Series = append(panel.Series, f.lowerBound(r, st, s))
		}
		r.Plot.Panels = append(r.Plot.Panels, panel)
	}
}

// lowerBound adds the rows of the paper's lower bound on the expected total variation error of means, and
// returns its curve. It holds for the worst clients that there can be.
func (f paperFigure) lowerBound(r *experiment.Result, st *study, sparsity int) figure.Series {
	series := figure.Series{Name: "minimax lower bound", Style: figure.Dashed}
	for _, epsilon := range st.epsilons {
		bound := math.Log(vectors.MinimaxVariation(f.dim, sparsity, f.clients, epsilon))
		series.X, series.Y = append(series.X, epsilon), append(series.Y, bound)
		r.Rows = append(r.Rows, experiment.Row{f.number, f.clients, f.dim, sparsity, epsilon, series.Name, f.by.name(), bound, nil, nil})
	}
	return series
}
