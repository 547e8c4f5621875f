package vectors

import (
	"context"
	"fmt"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/sparse"
)

// fig4 is CoCo's collision rates: how likely the reported slot is the slot of an item of the client (P_t), of
// the item with the other sign (P_o), and of any other item (P_f).
func fig4() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig4-wang",
		Title:   "Collision rates of CoCo against the number of slots",
		Source:  paper + ", Figure 4",
		Without: append([]string{experiment.FlagQuick}, exact...),
		Bind: func(f *flag.FlagSet) experiment.Run {
			p := bindPoint(f)
			return func(context.Context, experiment.Env) (*experiment.Result, error) { return runFig4(p()) }
		},
	}
}

func runFig4(p sparse.Point, err error) (*experiment.Result, error) {
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"slots", "true", "opposite", "false"},
		Notes:   []string{fmt.Sprintf("d = %d, s = %d, ε = %g, ideal hash.", p.Dim, p.Sparsity, p.Epsilon)},
	}
	series := []figure.Series{{Name: "true, P_t"}, {Name: "opposite, P_o"}, {Name: "false, P_f"}}
	ordered, all := 0, 0
	for p.Slots = 2*p.Sparsity + 2; p.Slots <= 8*p.Sparsity; p.Slots += 2 {
		c, err := coco.Scheme.Calibration(p)
		if err != nil {
			return nil, err
		}
		rates := []float64{c.In.Own, c.In.Opposite, c.Out.Own}
		r.Rows = append(r.Rows, experiment.Row{p.Slots, rates[0], rates[1], rates[2]})
		for i, rate := range rates {
			series[i].X, series[i].Y = append(series[i].X, float64(p.Slots)), append(series[i].Y, rate)
		}
		all++
		if c.In.Opposite < c.Out.Own && c.Out.Own < c.In.Own {
			ordered++
		}
	}
	r.Verdicts = []experiment.Verdict{{
		Claim:   "Figure 4: CoCo's opposite rate is below its false rate, and both are below the true rate",
		Holds:   ordered == all,
		Section: "8.4", Quote: "forces the opposite collision rate Po to be smaller",
		Criterion: "P_o < P_f < P_t at every number of slots",
		Ours:      fmt.Sprintf("at %d of %d numbers of slots", ordered, all),
		Detail:    "exact rates, from 2s+2 slots to 8s",
	}}
	r.Plot = &figure.Figure{Panels: []figure.Panel{{XLabel: "number of slots, t", YLabel: "probability of a collision", Series: series}}}
	return r, nil
}
