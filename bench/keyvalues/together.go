package keyvalues

import (
	"context"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// togetherName names the experiment that all figures are part of.
var togetherName = fmt.Sprintf("figs%d-%d", figures[0].number, figures[len(figures)-1].number)

// together is all the figures in one run: what several of them show is measured once.
func together() experiment.Experiment {
	first, last := figures[0].number, figures[len(figures)-1].number
	return experiment.Experiment{
		Name:    togetherName,
		Title:   fmt.Sprintf("Key-value pairs: Figures %d to %d in one run, every setting measured once", first, last),
		Source:  fmt.Sprintf("%s, Figures %d to %d", paper, first, last),
		Without: []string{experiment.FlagData},
		Bind:    bind(runTogether),
	}
}

func runTogether(ctx context.Context, env experiment.Env, clients int) (*experiment.Result, error) {
	var shown []paperFigure
	for _, f := range figures {
		shown = append(shown, f.of(env, clients))
	}
	env.Progress.Describe("figures")
	st, err := newStudy(newGrid(env), shown)
	if err != nil {
		return nil, err
	}
	if err := st.run(ctx, env); err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"figure", "clients", "dim", "sparsity", "epsilon", "mechanism", "metric", "error", "log_error", "stderr"},
		Notes:   append([]string{fmt.Sprintf("%d repeats. Figures of the same n and d show the same rounds.", st.repeats)}, readings...),
		Plot:    &figure.Figure{Columns: len(st.sparsities), ErrorBars: experiment.ErrorBars},
	}
	for _, f := range shown {
		cells := st.cells(f)
		for _, at := range cells {
			r.Rows = append(r.Rows, experiment.Row{
				f.number, f.clients, f.dim, st.sparsities[at.sparsity], st.epsilons[at.epsilon], contenders[at.contender].label,
				metricNames[f.metric], at.mean.Value, math.Log(at.mean.Value), at.stderr,
			})
		}
		for _, p := range f.panels(st.grid, cells) {
			p.Title = fmt.Sprintf("Figure %d: n = %d, d = %d, %s", f.number, f.clients, f.dim, p.Title)
			r.Plot.Panels = append(r.Plot.Panels, p)
		}
		for _, v := range f.verdicts(st.grid, cells) {
			v.Claim = fmt.Sprintf("Figure %d: %s", f.number, v.Claim)
			r.Verdicts = append(r.Verdicts, v)
		}
	}
	return r, nil
}
