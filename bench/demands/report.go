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
		Columns: []string{"data", "paper_data", "clients", "categories", "measure", "mechanism", "error", "error_low", "error_high", "least_error", "largest_error", "paper_error", "risk", "lower_bound", "upper_bound"},
		Notes: []string{
			fmt.Sprintf("Error: ℓ∞ distance to the clients' own histogram or mean. %d data sets of each law with %d repeats each; error is the mean over the data sets. The paper has one data set for each of its rows.", sets, repeats),
			"error_low, error_high and error bars: Student's 95 % interval for the mean over the data sets. least_error and largest_error are the errors of single data sets.",
			"C and U are the optimal weights with and without correlation, made for the measure of the row; C-T and U-T are their fast surrogates, and A is the heuristic. Prop weighs clients in proportion to ε, UNI all alike. SM samples with the largest ε as its threshold. LDP is local, with optimised weights.",
			"risk is the paper's risk of the weights, up to a constant. lower_bound is an error that no mechanism with these demands stays below with probability 0.95 on every data set. On one data set an error may be smaller. upper_bound is an error that A stays below with that probability, for demands of at most 1.",
			"A scheme beats another where Student's 95 % interval for the mean of the logarithm of the ratio over the data sets does not contain 0, and ties otherwise.",
		},
		Plot: &figure.Figure{Columns: t.columns, ErrorBars: experiment.ErrorBars, Panels: t.panels(groups)},
	}
	if slices.ContainsFunc(groups, func(g group) bool { return g.curve }) {
		r.Notes = append(r.Notes, "Curves of Appendix B: shares of the repeats on the first data set of a law, with Wilson's 95 % interval.")
	}
	for _, g := range groups {
		if g.what != "" {
			r.Notes = append(r.Notes, fmt.Sprintf("%s: %s.", g.name, g.what))
		}
		for m, measure := range measures {
			for s, scheme := range g.list {
				errors := g.errors[m][s]
				e := experiment.MeanInterval(errors)
				cells := experiment.Row{
					g.name, g.set, g.clients, g.categories, measure.String(), scheme.name,
					e.Value, e.Low, e.High, slices.Min(errors), slices.Max(errors), nil, nil, nil, nil,
				}
				if s < len(row{}) && g.paper != nil {
					value, _, err := g.paper[measure].printed(s)
					if err != nil {
						return nil, err
					}
					cells[11] = value
				}
				if risk := stat.Mean(g.risks[m][s], nil); risk > 0 {
					cells[12] = risk
				}
				if measure == quantile {
					cells[13] = stat.Mean(g.lower, nil)
					if upper := stat.Mean(g.upper, nil); upper > 0 && scheme.name == heuristic {
						cells[14] = upper
					}
				}
				r.Rows = append(r.Rows, cells)
			}
		}
	}
	r.Verdicts = t.claims(groups)
	return r, nil
}
