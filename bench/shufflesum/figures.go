package shufflesum

import (
	"context"
	"flag"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// setting is one point of a figure.
type setting struct {
	n       int
	bound   int64
	epsilon float64
}

// sweep is a figure of the paper: the error of all mechanisms along one axis, on
// two data sets. The paper draws its figures without printing their numbers, so
// only its claims are compared.
type sweep struct {
	axis     string // column
	label    string // of the axis
	value    func(setting) float64
	settings []setting
	number   uint64 // of the figure
	claims   func(points map[string][]float64, label string) []experiment.Verdict
}

var sweepData = []distribution{zipf(3), gauss(5, 5)}

func (s sweep) bind(f *flag.FlagSet) experiment.Run {
	relation := experiment.RelationFlag(f, fl.ReplaceOne)
	return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
		return s.run(ctx, env, *relation)
	}
}

func (s sweep) run(ctx context.Context, env experiment.Env, relation fl.Relation) (*experiment.Result, error) {
	repeats, groups, note := sumRepeats(env)
	r := &experiment.Result{
		Columns: []string{"data", s.axis, "mechanism", "error_percent", "messages_per_client", "bits_per_client", "error_percent_low", "error_percent_high"},
		Notes: []string{
			fmt.Sprintf("δ = %g, β = %g, %s; %s.", paperDelta, paperBeta, relation, note),
			intervals,
			"The settings are ours: the paper's figure has no printed numbers, so its claims are compared.",
		},
	}
	env.Progress.Describe(s.axis)
	env.Progress.Grow(len(sweepData) * len(s.settings) * len(sumNames) * repeats * groups)
	figure := &figure.Figure{Columns: len(sweepData), ErrorBars: experiment.ErrorBars}
	for i, data := range sweepData {
		errors, found := map[string][]float64{}, map[string][]outcome{}
		var x []float64
		for j, set := range s.settings {
			inputs, err := data.draw(set.n, set.bound, experiment.Stream(env.Seed, s.number, uint64(i), uint64(j)))
			if err != nil {
				return nil, err
			}
			x = append(x, s.value(set))
			for k, name := range sumNames {
				mechanism, err := newSummer(name, set.n, set.bound, set.epsilon, relation)
				if err != nil {
					return nil, err
				}
				o, err := run(ctx, env, mechanism, inputs, repeats, groups, s.number, uint64(i), uint64(j), uint64(k))
				if err != nil {
					return nil, err
				}
				e := o.relativeError
				r.Rows = append(r.Rows, experiment.Row{data.name, s.value(set), name, e.Value, o.messages.Value, o.bits, e.Low, e.High})
				errors[name] = append(errors[name], e.Value)
				found[name] = append(found[name], o)
			}
		}
		r.Verdicts = append(r.Verdicts, s.claims(errors, data.name)...)
		figure.Panels = append(figure.Panels,
			s.panel(data.name, "relative error of the sum, %", x, found, func(o outcome) experiment.Interval { return o.relativeError }),
			s.panel(data.name, "messages per client", x, found, func(o outcome) experiment.Interval { return o.messages }))
	}
	r.Plot = figure
	return r, nil
}

func (s sweep) panel(title, label string, x []float64, found map[string][]outcome, of func(outcome) experiment.Interval) figure.Panel {
	p := figure.Panel{Title: title, XLabel: s.label, YLabel: label, LogX: true, LogY: true}
	for _, name := range sumNames {
		series := figure.Series{Name: name, Style: figure.LinePoints}
		for i, o := range found[name] {
			v := of(o)
			series.Add(x[i], v.Value, v.Low, v.High)
		}
		p.Series = append(p.Series, series)
	}
	return p
}

// leads claims that SumDP is the most accurate everywhere.
func leads(errors map[string][]float64, label string) experiment.Verdict {
	v := experiment.Verdict{Claim: label + ": SumDP has the smallest error everywhere", Holds: true}
	var worst []float64
	for i, e := range errors["SumDP"] {
		best := min(errors["GKMPS"][i], errors["BBGN"][i])
		v.Holds = v.Holds && e < best
		worst = append(worst, best/e)
	}
	v.Detail = fmt.Sprintf("the next best is %.3g to %.3g times worse", slices.Min(worst), slices.Max(worst))
	return v
}

func ends(values []float64) float64 { return values[len(values)-1] / values[0] }

func fig3() experiment.Experiment {
	s := sweep{
		axis:   "epsilon",
		label:  "central ε",
		value:  func(p setting) float64 { return p.epsilon },
		number: 103,
		claims: func(errors map[string][]float64, label string) []experiment.Verdict {
			return []experiment.Verdict{leads(errors, label), {
				Claim:  label + ": the error of BBGN falls in proportion to ε",
				Holds:  ends(errors["BBGN"]) < 0.02,
				Detail: fmt.Sprintf("from ε = 0.1 to 10 by a factor of %.3g", 1/ends(errors["BBGN"])),
			}}
		},
	}
	for _, epsilon := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10} {
		s.settings = append(s.settings, setting{n: 100_000, bound: 100_000, epsilon: epsilon})
	}
	return experiment.Experiment{
		Name: "fig3", Title: "Sums of integers: error against ε", Source: paper + ", Figure 3", Bind: s.bind,
		Without: []string{experiment.FlagData},
	}
}

func fig4() experiment.Experiment {
	s := sweep{
		axis:   "bound",
		label:  "bound U of the inputs",
		value:  func(p setting) float64 { return float64(p.bound) },
		number: 104,
		claims: func(errors map[string][]float64, label string) []experiment.Verdict {
			return []experiment.Verdict{leads(errors, label), {
				Claim:  label + ": the error of SumDP hardly depends on U while that of BBGN grows with it",
				Holds:  ends(errors["SumDP"]) < 5 && ends(errors["BBGN"]) > 100,
				Detail: fmt.Sprintf("from U = 10³ to 10⁶ SumDP's grows by a factor of %.3g and BBGN's by %.3g", ends(errors["SumDP"]), ends(errors["BBGN"])),
			}}
		},
	}
	for _, bound := range []int64{1000, 10_000, 100_000, 1_000_000} {
		s.settings = append(s.settings, setting{n: 100_000, bound: bound, epsilon: 1})
	}
	return experiment.Experiment{
		Name: "fig4", Title: "Sums of integers: error against the bound U", Source: paper + ", Figure 4", Bind: s.bind,
		Without: []string{experiment.FlagData},
	}
}

func fig5() experiment.Experiment {
	s := sweep{
		axis:   "clients",
		label:  "number of clients, n",
		value:  func(p setting) float64 { return float64(p.n) },
		number: 105,
		claims: func(errors map[string][]float64, label string) []experiment.Verdict {
			return []experiment.Verdict{leads(errors, label), {
				Claim:  label + ": the error of BBGN falls in proportion to the number of clients",
				Holds:  ends(errors["BBGN"]) < 1./300,
				Detail: fmt.Sprintf("from 10³ to 10⁶ clients by a factor of %.3g; SumDP's by %.3g", 1/ends(errors["BBGN"]), 1/ends(errors["SumDP"])),
			}}
		},
	}
	for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
		s.settings = append(s.settings, setting{n: n, bound: 100_000, epsilon: 1})
	}
	return experiment.Experiment{
		Name: "fig5", Title: "Sums of integers: error and messages against the number of clients", Source: paper + ", Figure 5", Bind: s.bind,
		Without: []string{experiment.FlagData},
	}
}
