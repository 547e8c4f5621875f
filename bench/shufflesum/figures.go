package shufflesum

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

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
	number              uint64 // of the figure
	claims              func(points) []experiment.Verdict
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
		Name: s.name, Title: s.title, Source: paper + ", " + s.source, Without: []string{experiment.FlagData},
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
		r.Verdicts = append(r.Verdicts, s.claims(at)...)
		errors := s.panel(panel.title, "absolute error of the sum", at.x, found, func(o outcome) experiment.Interval { return o.err })
		errors.Series = append(errors.Series, figure.Series{Name: "the sum itself", X: at.x, Y: at.truth, Style: figure.Dashed})
		fig.Panels = append(fig.Panels, errors,
			s.panel(panel.title, "messages per client", at.x, found, func(o outcome) experiment.Interval { return o.messages }))
	}
	r.Plot = fig
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

func spreadOf(values []float64) float64 { return slices.Max(values) / slices.Min(values) }

func ends(values []float64) float64 { return values[len(values)-1] / values[0] }

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

func fig3Claims(at points) []experiment.Verdict {
	flat := func(names ...string) experiment.Verdict {
		v := experiment.Verdict{Claim: fmt.Sprintf("%s: n hardly changes the error of %s", at.title, strings.Join(names, ", ")), Holds: true}
		for i, name := range names {
			ratio := spreadOf(at.errors[name])
			v.Holds = v.Holds && ratio < 3
			if i > 0 {
				v.Detail += ", "
			}
			v.Detail += fmt.Sprintf("%s's differs by a factor of up to %.3g", name, ratio)
		}
		v.Detail += " between n = 10³ and 10⁹; less than 3 counts"
		return v
	}
	g, b, s := at.messages["GKMPS"], at.messages["BBGN"], at.messages[sumDPName]
	last := len(s) - 1
	return []experiment.Verdict{flat("GKMPS", "BBGN", centralName), flat(sumDPName), {
		Claim:  at.title + ": GKMPS's messages fall with n, BBGN's hardly change, SumDP's fall in the end",
		Holds:  slices.IsSortedFunc(g, func(a, b float64) int { return cmp.Compare(b, a) }) && spreadOf(b) < 3 && s[last] < s[0]/3,
		Detail: fmt.Sprintf("from n = 10³ to 10⁹ GKMPS's from %.3g to %.3g, BBGN's from %.3g to %.3g, SumDP's from %.3g to %.3g", g[0], g[last], b[0], b[last], s[0], s[last]),
	}, {
		Claim:  at.title + ": GKMPS's and SumDP's messages approach one per client",
		Holds:  g[last] < 2 && s[last] < 2,
		Detail: fmt.Sprintf("%.3g and %.3g at n = 10⁹, with certified constants; below 2 counts", g[last], s[last]),
	}}
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

func fig4Claims(at points) []experiment.Verdict {
	g, b, s := ends(at.errors["GKMPS"]), ends(at.errors["BBGN"]), ends(at.errors[sumDPName])
	return []experiment.Verdict{{
		Claim:  at.title + ": the errors of GKMPS and BBGN are proportional to U",
		Holds:  g > 1e5/2 && g < 2e5 && b > 1e5/2 && b < 2e5,
		Detail: fmt.Sprintf("from U = 10³ to 10⁸ they grow by factors of %.3g and %.3g; 10⁵/2 to 2·10⁵ counts", g, b),
	}, {
		Claim:  at.title + ": the error of SumDP follows the largest input and not U",
		Holds:  s < 3,
		Detail: fmt.Sprintf("from U = 10³ to 10⁸ it grows by a factor of %.3g, while the largest input is %g to %g; less than 3 counts", s, slices.Min(at.largest), slices.Max(at.largest)),
	}}
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

func fig5Claims(at points) []experiment.Verdict {
	last := len(at.x) - 1
	s, other := at.errors[sumDPName], min(at.errors["GKMPS"][last], at.errors["BBGN"][last])
	return []experiment.Verdict{{
		Claim:  at.title + ": the error of SumDP grows with the largest input",
		Holds:  slices.IsSorted(s) && at.largest[last] == 1e5,
		Detail: fmt.Sprintf("from %.3g to %.3g, while the largest input grows from %g to %g", s[0], s[last], at.largest[0], at.largest[last]),
	}, {
		Claim:  at.title + ": where the largest input reaches U, SumDP is nearly as good as GKMPS and BBGN",
		Holds:  s[last] <= 2*other,
		Detail: fmt.Sprintf("%.3g against %.3g at σ = 10⁵; up to twice as much counts", s[last], other),
	}}
}
