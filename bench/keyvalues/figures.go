package keyvalues

import (
	"context"
	"flag"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// paperFigure is one of the paper's: an error against ε, with one panel per sparsity.
type paperFigure struct {
	number       int
	metric       int // of metricNames
	clients, dim int
	title        string
}

// Which setting the paper shows in which figure is our reading; every setting of its
// text is in one of them.
var figures = []paperFigure{
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

func (f paperFigure) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name:    fmt.Sprintf("fig%d", f.number),
		Title:   fmt.Sprintf("Key-value pairs: %s, n = %d, d = %d", f.title, f.clients, f.dim),
		Source:  fmt.Sprintf("%s, Figure %d", paper, f.number),
		PartOf:  togetherName,
		Without: []string{experiment.FlagData},
		Bind: bind(func(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error) {
			return f.run(ctx, env, clients)
		}),
	}
}

// bind adds the flag that all figures have.
func bind(run func(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error)) func(*flag.FlagSet) experiment.Run {
	return func(flags *flag.FlagSet) experiment.Run {
		clients := flags.Int("clients", 0, fmt.Sprintf("number of clients; 0: the figure's, with -quick at most %d", quickClients))
		return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
			if *clients < 0 || *clients > maxClients {
				return nil, fl.Invalid("-clients", *clients, "must be in [0, %d]", maxClients)
			}
			return run(ctx, env, *clients)
		}
	}
}

const (
	quickClients = 10_000
	maxClients   = 10_000_000 // whose keys fit into memory
)

// of returns the figure with the number of clients that a run has.
func (f paperFigure) of(env experiment.Env, clients int) paperFigure {
	switch {
	case clients > 0:
		f.clients = clients
	case env.Quick:
		f.clients = min(f.clients, quickClients)
	}
	return f
}

func (f paperFigure) run(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error) {
	f = f.of(env, clients)
	env.Progress.Describe(fmt.Sprintf("fig%d", f.number))
	st, err := newStudy(newGrid(env), []paperFigure{f})
	if err != nil {
		return nil, err
	}
	if err := st.run(ctx, env); err != nil {
		return nil, err
	}
	return f.report(st.grid, st.cells(f)), nil
}

// readings are the notes of all figures.
var readings = []string{
	"The paper draws natural logarithms of errors, the column log_error.",
	"Keys are drawn with popularity 1/√(k+1) and signs with a bias that depends on the key. The paper does not say how its vectors are drawn.",
	"PCKV pads to the sparsity. PCKV-GRR has the budget of its theorem with padding length 1, PCKV-AGRR with the padding gain.",
	"Error bars: Student's 95 % interval over the repeats, on the same clients.",
	"Collision, CoCo and SUCCINCT encode every vector. For PCKV and PrivKV the counts of the reports are drawn, from the law that the encoders give them. All estimates are those of the aggregators.",
}

func (f paperFigure) report(g grid, cells []*cell) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"sparsity", "epsilon", "mechanism", metricNames[f.metric], "log_error", "stderr"},
		Notes:   append([]string{fmt.Sprintf("n = %d, d = %d, %d repeats.", f.clients, f.dim, g.repeats)}, readings...),
		Plot: &figure.Figure{
			Title:   fmt.Sprintf("Key-value pairs: %s, n = %d, d = %d", f.title, f.clients, f.dim),
			Columns: 2, ErrorBars: experiment.ErrorBars, Panels: f.panels(g, cells),
		},
		Verdicts: f.verdicts(g, cells),
	}
	for _, at := range cells {
		r.Rows = append(r.Rows, experiment.Row{
			g.sparsities[at.sparsity], g.epsilons[at.epsilon], contenders[at.contender].label,
			at.mean.Value, math.Log(at.mean.Value), at.stderr,
		})
	}
	return r
}

// epsilonTitle is the title of the axis of ε in all figures.
const epsilonTitle = "local ε of one report"

// panels returns one panel per sparsity.
func (f paperFigure) panels(g grid, cells []*cell) []figure.Panel {
	var panels []figure.Panel
	for i, s := range g.sparsities {
		panel := figure.Panel{Title: fmt.Sprintf("s = %d keys per client", s), XLabel: epsilonTitle, YLabel: metricTitles[f.metric], LogX: true, LogY: true}
		for j, c := range contenders {
			series := figure.Series{Name: c.label, Style: figure.LinePoints}
			for _, at := range cells {
				if at.sparsity != i || at.contender != j {
					continue
				}
				series.Add(g.epsilons[at.epsilon], at.mean.Value, at.mean.Low, at.mean.High)
			}
			if len(series.X) > 0 {
				panel.Series = append(panel.Series, series)
			}
		}
		panels = append(panels, panel)
	}
	return panels
}
