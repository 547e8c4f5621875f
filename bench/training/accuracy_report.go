package training

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/bound"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/plan"
)

// interval is a mean with its 95 % confidence interval: Student's, over the repeats.
// One repeat has none.
type interval struct{ mean, low, high float64 }

func (c *cell) accuracy() interval {
	var values []float64
	for _, o := range c.outcomes {
		values = append(values, o.accuracy)
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	if len(values) < 2 {
		return interval{mean, mean, mean}
	}
	n := float64(len(values))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * deviation / math.Sqrt(n)
	return interval{mean, mean - half, mean + half}
}

// bytes is the mean length of a report.
func (c *cell) bytes() float64 {
	sum := 0.
	for _, o := range c.outcomes {
		sum += o.bytes / float64(len(c.outcomes))
	}
	return sum
}

// orNil makes a cell of a table.
func orNil(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func (s sweep) report(cells []*cell, data *dataset.Data, demands plan.Training) *experiment.Result {
	r := &experiment.Result{
		Columns: []string{
			"mechanism", "epsilon_local", "epsilon_local_all", "epsilon_central", "accuracy", "low", "high", "repeats", "rounds", "participations",
			"clients", "cohort", "sparsity", "scale", "planned_noise", "noise", "learning_rate", "bytes_per_report", "seconds",
		},
		Notes: []string{
			data.Note + s.protocol(demands, data.Train.Len()),
			"epsilon_local is the ε of one report, against everybody. epsilon_local_all is that of all reports of a client together, participations times as much. epsilon_central is the ε of all of a client's reports at δ, against a party that sees only the shuffled reports of each round. That of gaussian is composed without any gain from shuffling. That of central trusts the server with every gradient. That of sumdp-shares is against either of two servers alone. auto, sumdp, sumdp-shares and central are given a central ε, the others a local one.",
			"The learning rate follows from the standard errors of the first round's estimate, noise, and for auto from the exact error, planned_noise: both are of a coordinate, in units of the gradient. The rest of the training is the same for all.",
			"low and high are Student's 95 % interval of the mean over the repeats, which differ in all randomness but not in the pictures. seconds are those of one run on one core.",
		},
		Plot: s.figure(cells),
	}
	for _, c := range cells {
		a := c.accuracy()
		r.Rows = append(r.Rows, experiment.Row{
			c.name, orNil(c.course.local), orNil(c.course.localOfAll()), orNil(c.course.central), a.mean, a.low, a.high, len(c.outcomes), c.course.rounds,
			c.course.participations, demands.Clients, c.course.cohort, c.course.sparsity, c.course.scale, orNil(c.course.noise), c.outcomes[0].noise, c.outcomes[0].rate, c.bytes(), c.seconds,
		})
	}
	r.Verdicts = append(s.targets(cells), s.comparisons(cells)...)
	return r
}

func (s sweep) protocol(d plan.Training, pictures int) string {
	return fmt.Sprintf(". %d clients share %d training pictures, softmax regression with %d weights, δ = %g; gradients at the first model have mean norms L1 = %.3g and L2 = %.3g on generated digits, from which clips follow.",
		d.Clients, pictures, d.Dim, d.Delta, d.L1, d.L2)
}

// figure draws accuracy against both kinds of ε.
func (s sweep) figure(cells []*cell) *figure.Figure {
	panels := []figure.Panel{
		{Title: "against everybody, from one of a client's reports", XLabel: "ε of one report", YLabel: "test accuracy", LogX: true, YRange: [2]float64{0, 1}},
		{Title: fmt.Sprintf("against a party that sees shuffled reports, δ = %g", s.delta), XLabel: "ε of all rounds", YLabel: "test accuracy", LogX: true, YRange: [2]float64{0, 1}},
	}
	for i := range panels {
		at := func(c *cell) *float64 {
			if i == 0 {
				return c.course.local
			}
			return c.course.central
		}
		lo, hi := math.Inf(1), 0.
		for _, contender := range s.contenders {
			series := figure.Series{Name: contender.name, Style: figure.LinePoints}
			for _, c := range cells {
				if x := at(c); c.name == contender.name && x != nil && !math.IsInf(*x, 1) {
					a := c.accuracy()
					series.X, series.Y = append(series.X, *x), append(series.Y, a.mean)
					series.YLow, series.YHigh = append(series.YLow, a.low), append(series.YHigh, a.high)
					lo, hi = min(lo, *x), max(hi, *x)
				}
			}
			if len(series.X) > 0 {
				panels[i].Series = append(panels[i].Series, series)
			}
		}
		for _, c := range cells {
			if c.role == reference && lo < hi {
				a := c.accuracy().mean
				panels[i].Series = append(panels[i].Series, figure.Series{Name: "no privacy", X: []float64{lo, hi}, Y: []float64{a, a}, Style: figure.Dashed})
			}
		}
	}
	return &figure.Figure{Panels: panels, Columns: 2, ErrorBars: experiment.ErrorBars}
}

// targets says which accuracy the planner reaches for which central ε.
func (s sweep) targets(cells []*cell) []experiment.Verdict {
	var out []experiment.Verdict
	for _, t := range []struct{ accuracy, epsilon float64 }{{0.86, 0.6}, {0.88, 1}, {0.90, 1}} {
		best, found := interval{}, (*cell)(nil)
		for _, c := range cells {
			if a := c.accuracy(); (c.role == planned || c.role == ours) && c.course.central != nil && *c.course.central <= t.epsilon && a.mean > best.mean {
				best, found = a, c
			}
		}
		if found == nil {
			continue
		}
		out = append(out, experiment.Verdict{
			Claim: fmt.Sprintf("accuracy %.2f within central ε = %g", t.accuracy, t.epsilon),
			Holds: best.mean >= t.accuracy,
			Detail: fmt.Sprintf("%.4f [%.4f, %.4f] with %s at central ε = %s; of one report ε = %s against everybody, of all %d reports of a client %s",
				best.mean, best.low, best.high, found.name, bound.Above(*found.course.central, 4), bound.Above(*found.course.local, 4), found.course.participations, bound.Above(*found.course.local*float64(found.course.participations), 4)),
		})
	}
	return out
}

// comparisons says where the best of ours is at or above the local baselines.
func (s sweep) comparisons(cells []*cell) []experiment.Verdict {
	var out []experiment.Verdict
	for _, epsilon := range s.locals {
		best, name := interval{}, ""
		for _, c := range cells {
			if a := c.accuracy(); c.role == ours && c.epsilon == epsilon && a.mean > best.mean {
				best, name = a, c.name
			}
		}
		if name == "" {
			continue
		}
		v := experiment.Verdict{
			Claim: fmt.Sprintf("ε = %g per report: the best of ours is at or above every local baseline, or within error bars of it", epsilon), Holds: true,
		}
		detail := []string{fmt.Sprintf("%s %.3f [%.3f, %.3f]", name, best.mean, best.low, best.high)}
		for _, c := range cells {
			if c.role != localBaseline || c.epsilon != epsilon {
				continue
			}
			a := c.accuracy()
			text := fmt.Sprintf("%s %.3f [%.3f, %.3f]", c.name, a.mean, a.low, a.high)
			if a.mean > best.mean && a.low > best.high {
				v.Holds = false
				text += ", above ours"
			}
			detail = append(detail, text)
		}
		v.Detail = strings.Join(detail, "; ")
		out = append(out, v)
	}
	return out
}
