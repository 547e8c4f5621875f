package keyvalues

import (
	"fmt"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func (s sweep) report(points []*point, clients, repeats int) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{"keys", "dim", "epsilon", "mechanism", "quantity", "scope", "mse", "stderr", "theory"},
		Notes: []string{
			fmt.Sprintf("n = %d, %d repeats, one pair per client, padding length 1.", clients, repeats),
			fmt.Sprintf("Gaussian keys are round(d/2 + %d·N), drawn again outside the keys. All holders of a key have the same value. It is Gaussian with σ = %d, drawn again outside [−1, 1], for both kinds of keys. This is our reading of the paper.", sigmaKey, sigmaMean),
			"Frequencies are the unbiased estimates. Means are those among the holders, by each mechanism's own corrected estimator. Keys that nobody holds are left out.",
			"PrivKVM has one real round and 5 virtual iterations.",
			"Theory is Theorem 4 averaged over the keys. It approximates the uncorrected mean for given signs. For the rounding of values to signs (1−m²) over the number of holders is added. The sum is cut at (1+|m|)², the largest squared error of an estimate in [−1, 1].",
			"Error bars: Student's 95 % interval over the repeats, on the same clients.",
			"The counts of the reports are drawn from the law that the encoders give them. All estimates are those of the aggregators.",
		},
		Plot: &figure.Figure{
			Title:   fmt.Sprintf("PCKV: %s, n = %d, synthetic data", s.title, clients),
			Columns: len(quantities) * len(scopes), ErrorBars: experiment.ErrorBars,
		},
		Verdicts: s.verdicts(points),
	}
	for _, at := range points {
		for quantity, name := range quantities {
			for i, over := range scopes {
				c := at.scores[quantity][i]
				row := experiment.Row{distributions[at.distribution], at.dim, at.epsilon, rivals[at.rival].label, name, over.name, c.mse.Value, c.stderr, nil}
				if c.theory.mse > 0 {
					row[len(row)-1] = c.theory.mse
				}
				r.Rows = append(r.Rows, row)
			}
		}
	}
	r.Plot.Panels = s.panels(points)
	return r
}

// panels returns one row of panels per distribution and, against the dimension, per ε.
func (s sweep) panels(points []*point) []figure.Panel {
	levels := []float64{0} // any ε
	if s.againstDim {
		levels = s.epsilons
	}
	var panels []figure.Panel
	for distribution, keys := range distributions {
		for _, level := range levels {
			var shown []*point
			for _, at := range points {
				if at.distribution == distribution && (level == 0 || at.epsilon == level) {
					shown = append(shown, at)
				}
			}
			title := keys + " keys"
			if s.againstDim {
				title = fmt.Sprintf("%s, ε = %g", title, level)
			}
			for quantity, name := range quantities {
				for i, over := range scopes {
					panels = append(panels, figure.Panel{
						Title: title + ", " + over.name, XLabel: s.xLabel(), YLabel: "mean squared error of the " + name,
						LogX: s.againstDim, LogY: true, Series: s.series(shown, quantity, i),
					})
				}
			}
		}
	}
	return panels
}

func (s sweep) xLabel() string {
	if s.againstDim {
		return "number of keys"
	}
	return epsilonTitle
}

// series are the curves of the mechanisms and then those of the theory.
func (s sweep) series(points []*point, quantity, over int) []figure.Series {
	var measured, expected []figure.Series
	for i, r := range rivals {
		m := figure.Series{Name: r.label, Style: figure.LinePoints}
		e := figure.Series{Name: r.label + ", theory", Of: r.label, Style: figure.Dashed}
		for _, at := range points {
			if at.rival != i {
				continue
			}
			x, c := at.epsilon, at.scores[quantity][over]
			if s.againstDim {
				x = float64(at.dim)
			}
			m.Add(x, c.mse.Value, c.mse.Low, c.mse.High)
			e.X, e.Y = append(e.X, x), append(e.Y, c.theory.mse)
		}
		measured = append(measured, m)
		if isPCKV(r.name) {
			expected = append(expected, e)
		}
	}
	return append(measured, expected...)
}
