package demands

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func (t table) report(groups []group, sets, repeats int) (*experiment.Result, error) {
	r := &experiment.Result{
		Columns: []string{"data", "paper_data", "clients", "categories", "measure", "mechanism", "error", "error_low", "error_high", "least_error", "largest_error", "paper_error", "risk", "lower_bound"},
		Notes: []string{
			fmt.Sprintf("Error: ℓ∞ distance to the clients' own histogram or mean. %d data sets of each law with %d repeats each; error is the mean over the data sets. The paper has one data set for each of its rows.", sets, repeats),
			"error_low, error_high and error bars: Student's 95 % interval for the mean over the data sets. least_error and largest_error are those of single data sets.",
			"C and U are the optimal weights with and without correlation, made for the measure of the row; C-T and U-T are their fast surrogates, and A is the heuristic. Prop weighs clients in proportion to ε, UNI all alike. SM samples with the largest ε as its threshold. LDP is local, with optimised weights.",
			"risk is that of the paper for the weights, up to a constant. lower_bound is an error that no mechanism with these demands stays below with probability 0.95 on every data set. On one data set an error may be smaller.",
			"A scheme beats another where Student's 95 % interval for the mean of the logarithm of the ratio over the data sets does not contain 0, and ties otherwise.",
		},
		Plot: &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars},
	}
	for _, g := range groups {
		if g.what != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s.", g.name, g.what))
		}
		panel := figure.Panel{ // series by place: measured, the paper's, the bound
			Title: g.name, YLabel: "largest error, 95 % quantile", LogY: true,
			Series: []figure.Series{{Name: "measured", Style: figure.Points}, {Name: "the paper's", Of: "measured", Style: figure.Points}, {Name: "lower bound, worst data", Style: figure.Dashed}},
		}
		bound := stat.Mean(g.bounds, nil)
		for m, measure := range measures {
			for s, scheme := range g.list {
				errors := g.errors[m][s]
				e := experiment.MeanInterval(errors)
				cells := experiment.Row{
					g.name, g.set, g.clients, g.categories, measure.String(), scheme.name,
					e.Value, e.Low, e.High, slices.Min(errors), slices.Max(errors), nil, nil, nil,
				}
				if s < len(row{}) {
					value, _, err := g.paper[measure].printed(s)
					if err != nil {
						return nil, err
					}
					cells[11] = value
					if measure == quantile {
						panel.Series[1].X, panel.Series[1].Y = append(panel.Series[1].X, float64(s)), append(panel.Series[1].Y, value)
					}
				}
				if risk := stat.Mean(g.risks[m][s], nil); risk > 0 {
					cells[12] = risk
				}
				if measure == quantile {
					cells[13] = bound
					panel.Categories = append(panel.Categories, scheme.name)
					panel.Series[0].Add(float64(s), e.Value, e.Low, e.High)
					panel.Series[2].X, panel.Series[2].Y = append(panel.Series[2].X, float64(s)), append(panel.Series[2].Y, bound)
				}
				r.Rows = append(r.Rows, cells)
			}
		}
		r.Plot.Panels = append(r.Plot.Panels, panel)
	}
	r.Verdicts = t.claims(groups)
	return r, nil
}
