package training

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func tiersReport(cells []*cell, notes ...string) *experiment.Result {
	r := &experiment.Result{
		Columns: slices.Concat([]string{"strategy", "epsilon_local", "epsilon_central", "accuracy", "stderr", "lowest", "highest"}, besideColumns),
		Notes: slices.Concat(notes, []string{
			"Error bars: Student's 95 % interval over the repeats.",
			"epsilon_local is the largest ε of a client's one report, against everybody. epsilon_central is the ε of the same client against a party that sees only shuffled reports. Reports of mixed tiers show their tier, so shuffling adds nothing there.",
		}, besideNotes(tierDelta)),
	}
	panel := figure.Panel{YLabel: "test accuracy", YRange: [2]float64{0, 1}}
	bars := figure.Series{Style: figure.Bars}
	means, errs := make([]float64, len(cells)), make([]float64, len(cells))
	for i, c := range cells {
		accuracies := c.accuracies()
		var deviation float64
		means[i], deviation = stat.MeanStdDev(accuracies, nil)
		if len(accuracies) > 1 {
			errs[i] = deviation / math.Sqrt(float64(len(accuracies)))
		}
		r.Rows = append(r.Rows, slices.Concat(experiment.Row{
			c.name, orNil(c.course.local), orNil(c.course.central), means[i], errs[i], slices.Min(accuracies), slices.Max(accuracies),
		}, c.beside()))
		panel.Categories = append(panel.Categories, c.name)
		bars.Y = append(bars.Y, means[i])
		interval := experiment.MeanInterval(accuracies)
		bars.YLow, bars.YHigh = append(bars.YLow, interval.Low), append(bars.YHigh, interval.High)
		if i > 0 {
			gap, noise := means[0]-means[i], math.Hypot(errs[0], errs[i])
			detail := fmt.Sprintf("%.3f against %.3f", means[0], means[i])
			if noise > 0 { // one repeat has no standard error
				detail += fmt.Sprintf(", by %.1f standard errors", gap/noise)
			}
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim: fmt.Sprintf("mixed tiers train better than with %s", c.name), Holds: gap > 2*noise, Detail: detail,
			})
		}
	}
	panel.Series = []figure.Series{bars}
	r.Plot = &figure.Figure{Title: "Clients choose their own ε", ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r
}
