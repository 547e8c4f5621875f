package vectors

import (
	"context"
	"flag"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/collision"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/sparse"
)

func fig5() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig5-wang",
		Title:   "Squared error of one report against the number of slots",
		Source:  paper + ", Figure 5",
		Without: append([]string{experiment.FlagQuick}, exact...),
		Bind: func(f *flag.FlagSet) experiment.Run {
			dim := f.Int("dim", 128, "coordinates, d")
			sparsity := f.Int("sparsity", 8, "entries of a vector, s")
			epsilon := f.Float64("epsilon", 0.5, "local ε")
			return func(context.Context, experiment.Env) (*experiment.Result, error) {
				return runFig5(*dim, *sparsity, *epsilon)
			}
		},
	}
}

// target is an error as a function of the number of slots, with the paper's choice.
type target struct {
	name  string
	panel int // 0: frequencies, 1: means
	mse   func(sparse.Point) (float64, error)
	best  func(sparse.Point) (int, error)
	paper int
	first int // smallest number of slots
}

func runFig5(dim, sparsity int, epsilon float64) (*experiment.Result, error) {
	switch {
	case dim < 1 || dim > fl.MaxDim:
		return nil, fl.Invalid("-dim", dim, "must be in [1, %d]", fl.MaxDim)
	case sparsity < 1 || sparsity > dim:
		return nil, fl.Invalid("-sparsity", sparsity, "must be in [1, dim], %d", dim)
	}
	if err := experiment.CheckEpsilon(epsilon); err != nil {
		return nil, err
	}
	p := sparse.Point{Dim: dim, Sparsity: sparsity, Epsilon: epsilon, Hash: "ideal"}
	s, e := float64(sparsity), math.Exp(epsilon)
	even := func(t float64) int { return 2 * int(math.Ceil(t/2)) }
	targets := []target{
		{"Collision, frequencies", 0, collision.Scheme.ItemMSE, collision.Scheme.BestSlotsForItems, int(math.Floor(s*e + 2*s - 1)), sparsity + 1},
		{"Collision, mean", 1, collision.Scheme.MSE, collision.Scheme.BestSlots, int(math.Floor(s*e + 2*s - 1)), sparsity + 1},
		{"CoCo, mean", 1, coco.Scheme.MSE, coco.Scheme.BestSlots, even(s*e + s + 2), 2 * sparsity},
		{"CoCo, support", 0, coco.Scheme.FrequencyMSE, coco.Scheme.BestSlotsForFrequency, even(s*e + 5*s), 2*sparsity + 2},
	}
	r := &experiment.Result{
		Columns: []string{"target", "slots", "mse", "least_mse", "best_slots", "paper_slots"},
		Notes:   []string{fmt.Sprintf("d = %d, s = %d, ε = %g, ideal hash; exact errors of one report, summed over the coordinates.", dim, sparsity, epsilon)},
	}
	panels := []figure.Panel{{Title: "frequencies of items and keys"}, {Title: "means"}}
	for i := range panels {
		panels[i].XLabel, panels[i].YLabel = "number of slots, t", "squared error of one report, all coordinates"
		panels[i].LogX, panels[i].LogY = true, true
	}
	for _, t := range targets {
		best, err := t.best(p)
		if err != nil {
			return nil, err
		}
		at := func(slots int) (float64, error) {
			q := p
			q.Slots = slots
			mse, err := t.mse(q)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", t.name, err)
			}
			return mse, nil
		}
		least, err := at(best)
		if err != nil {
			return nil, err
		}
		theirs, err := at(t.paper)
		if err != nil {
			return nil, err
		}
		series := figure.Series{Name: t.name, Style: figure.Line}
		for slots := t.first; slots <= 16*best; slots += max(2, slots/16*2) {
			mse, err := at(slots)
			if err != nil {
				return nil, err
			}
			series.X, series.Y = append(series.X, float64(slots)), append(series.Y, mse)
			r.Rows = append(r.Rows, experiment.Row{t.name, slots, mse, least, best, t.paper})
		}
		panel := &panels[t.panel]
		panel.Series = append(panel.Series, series,
			figure.Series{Name: t.name + ", the paper's t", Of: t.name, X: []float64{float64(t.paper)}, Y: []float64{theirs}, Style: figure.Points})
		r.Verdicts = append(r.Verdicts, experiment.Verdict{
			Claim:  fmt.Sprintf("%s: the paper's t = %d has nearly the smallest error", t.name, t.paper),
			Holds:  theirs <= 1.05*least,
			Detail: fmt.Sprintf("%.3g %% above that of t = %d", 100*(theirs/least-1), best),
		})
	}
	r.Plot = &figure.Figure{Panels: panels}
	return r, nil
}
