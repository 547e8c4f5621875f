package shufflesum

import (
	"context"
	"fmt"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// setting is one point of a figure.
type setting struct {
	n       int
	bound   int64
	epsilon float64
	data    distribution
	sigma   float64 // of the data
}

// sweep is a figure of the paper: absolute errors along one axis, with the sum itself beside
// them. The paper draws its figures without printing their numbers, so only its claims are
// compared.
type sweep struct {
	name, title, source string
	label               string // of the axis
	value               func(setting) float64
	panels              []sweepPanel
	number              uint64                              // of the figure
	claims              func([]points) []experiment.Verdict // of all panels
}

type sweepPanel struct {
	title    string
	settings []setting
}

// points are the absolute errors and the messages of a panel by mechanism, with the truth and
// the largest inputs.
type points struct {
	title            string
	errors, messages map[string][]float64
	x, truth         []float64
	largest          []float64
}

func (s sweep) experiment() experiment.Experiment {
	return experiment.Experiment{
		Name: s.name, Title: s.title, Source: paper + ", " + s.source, Without: []string{experiment.FlagData}, Settings: zeroOut,
		Bind: func(f *flag.FlagSet) experiment.Run {
			relation := experiment.RelationFlag(f, fl.ReplaceOne)
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				return s.run(ctx, env, *relation)
			}
		},
	}
}

func (s sweep) run(ctx context.Context, env experiment.Env, relation fl.Relation) (*experiment.Result, error) {
	repeats, groups, note := sumRepeats(env)
	r := &experiment.Result{
		Columns: []string{"data", "clients", "bound", "epsilon", "mechanism", "error", "error_low", "error_high", "sum", "largest", "messages_per_client", "bits_per_client"},
		Notes: []string{
			fmt.Sprintf("δ = %g, β = %g, %s; %s. Errors are absolute, as in the paper.", paperDelta, paperBeta, relation, note),
			intervals,
			"The paper prints no numbers for this figure, so that only its claims are compared. Normal variables outside of {1, …, U} are clamped.",
			references,
		},
	}
	env.Progress.Describe(s.name)
	total := 0
	for _, panel := range s.panels {
		total += len(panel.settings)
	}
	env.Progress.Grow(total * len(sumNames) * repeats * groups)
	fig := &figure.Figure{Columns: 2, ErrorBars: experiment.ErrorBars}
	var all []points
	for i, panel := range s.panels {
		at := points{title: panel.title, errors: map[string][]float64{}, messages: map[string][]float64{}}
		found := map[string][]outcome{}
		for j, set := range panel.settings {
			p := set.data.draw(set.n, set.bound, experiment.Stream(env.Seed, s.number, uint64(i), uint64(j)))
			at.x, at.truth, at.largest = append(at.x, s.value(set)), append(at.truth, p.total()), append(at.largest, float64(p.largest(1)))
			for k, name := range sumNames {
				mechanism, err := newSummer(name, p, set.bound, set.epsilon, relation)
				if err != nil {
					return nil, err
				}
				o, err := run(ctx, env, fmt.Sprintf("%s/%d/%s", panel.title, j, name), mechanism, p, p.total(), repeats, groups, s.number, uint64(i), uint64(j), uint64(k))
				if err != nil {
					return nil, err
				}
				row := experiment.Row{set.data.name, set.n, set.bound, set.epsilon, name, o.err.Value, o.err.Low, o.err.High, p.total(), p.largest(1), nil, nil}
				if mechanism.bitsPerMessage() > 0 {
					row[10], row[11] = o.messages.Value, o.bits
				}
				r.Rows = append(r.Rows, row)
				at.errors[name] = append(at.errors[name], o.err.Value)
				at.messages[name] = append(at.messages[name], o.messages.Value)
				found[name] = append(found[name], o)
			}
		}
		all = append(all, at)
		errors := s.panel(panel.title, "absolute error of the sum", at.x, found, func(o outcome) experiment.Interval { return o.err })
		errors.Series = append(errors.Series, figure.Series{Name: "the sum itself", X: at.x, Y: at.truth, Style: figure.Dashed})
		fig.Panels = append(fig.Panels, errors,
			s.panel(panel.title, "messages per client", at.x, found, func(o outcome) experiment.Interval { return o.messages }))
	}
	r.Verdicts, r.Plot = s.claims(all), fig
	return r, nil
}

// panel draws one quantity of the mechanisms. Central DP has no messages.
func (s sweep) panel(title, label string, x []float64, found map[string][]outcome, of func(outcome) experiment.Interval) figure.Panel {
	p := figure.Panel{Title: title, XLabel: s.label, YLabel: label, LogX: true, LogY: true}
	for _, name := range sumNames {
		series := figure.Series{Name: name, Style: figure.LinePoints}
		for i, o := range found[name] {
			if v := of(o); v.Value > 0 {
				series.Add(x[i], v.Value, v.Low, v.High)
			}
		}
		if len(series.Y) > 0 {
			p.Series = append(p.Series, series)
		}
	}
	return p
}

// fig3 is the error and the number of messages against the number of clients.
func fig3() sweep {
	s := sweep{
		name: "fig3", title: "Sums of integers: error and messages against the number of clients", source: "Figure 3",
		label: "number of clients, n", value: func(p setting) float64 { return float64(p.n) }, number: 103, claims: fig3Claims,
	}
	for _, epsilon := range []float64{0.2, 1, 5} {
		panel := sweepPanel{title: fmt.Sprintf("ε = %g", epsilon)}
		for _, n := range []int{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9} {
			panel.settings = append(panel.settings, setting{n, 1000, epsilon, gauss(1, 1, clamped), 1})
		}
		s.panels = append(s.panels, panel)
	}
	return s
}

// fig4 is the error against the bound U.
func fig4() sweep {
	s := sweep{
		name: "fig4", title: "Sums of integers: error against the bound U", source: "Figure 4",
		label: "bound U of the inputs", value: func(p setting) float64 { return float64(p.bound) }, number: 104, claims: fig4Claims,
		panels: []sweepPanel{{title: "Gauss μ = 50, σ = 50, n = 10⁵"}},
	}
	for _, bound := range []int64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8} {
		s.panels[0].settings = append(s.panels[0].settings, setting{100_000, bound, 1, gauss(50, 50, clamped), 50})
	}
	return s
}

// fig5 is the error against the deviation of the data.
func fig5() sweep {
	s := sweep{
		name: "fig5", title: "Sums of integers: error against the skewness of the data", source: "Figure 5",
		label: "standard deviation σ of the inputs", value: func(p setting) float64 { return p.sigma }, number: 105, claims: fig5Claims,
		panels: []sweepPanel{{title: "Gauss μ = 1, U = 10⁵, n = 10⁵"}},
	}
	for _, sigma := range []float64{1, 10, 100, 1000, 1e4, 1e5} {
		s.panels[0].settings = append(s.panels[0].settings, setting{100_000, 100_000, 1, gauss(1, sigma, clamped), sigma})
	}
	return s
}
