package shufflesum

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	flag "github.com/spf13/pflag"
	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// column is one data set of Table 3. The paper's numbers are for SumDP, GKMPS, BBGN and
// central DP.
type column struct {
	name      string
	bound     int64
	draw      func(rng *rand.Rand) population
	errors    *[4]float64 // percent; nil: the paper has no such column
	messages  [3]float64  // per client
	isStandIn bool
}

const tableClients, tableBound = 100_000, 100_000

func simulated(d distribution, errors [4]float64, messages [3]float64) column {
	return column{d.name, tableBound, func(rng *rand.Rand) population { return d.draw(tableClients, tableBound, rng) }, &errors, messages, false}
}

func instead(s standIn, errors [4]float64, messages [3]float64) column {
	return column{s.name, s.bound, s.draw, &errors, messages, true}
}

func table3Columns() []column {
	wide, narrow := [4]float64{0.00497, 19.1, 14.9, 0.00715}, [4]float64{0.00509, 2.33, 1.66, 0.00631}
	return []column{
		simulated(zipf(3), [4]float64{1.11, 66.3, 49, 0.517}, [3]float64{140, 14_200, 9}),
		simulated(zipf(5), [4]float64{0.0724, 120, 77.4, 0.0301}, [3]float64{140, 14_300, 9}),
		simulated(gauss(5, 5, clamped), wide, [3]float64{139, 14_200, 9}),
		simulated(gauss(5, 5, discarded), wide, [3]float64{139, 14_200, 9}),
		simulated(gauss(50, 50, clamped), narrow, [3]float64{139, 14_300, 9}),
		simulated(gauss(50, 50, discarded), narrow, [3]float64{139, 14_300, 9}),
		instead(standIns[0], [4]float64{0.0115, 2.06, 2.79, 0.00858}, [3]float64{143, 12_200, 9}),
		instead(standIns[1], [4]float64{0.00762, 0.479, 0.268, 0.00243}, [3]float64{126, 7770, 8}),
		instead(standIns[2], [4]float64{0.0175, 3.52, 3.04, 0.0447}, [3]float64{119, 5970, 8}),
		instead(standIns[3], [4]float64{0.127, 8.42, 5.55, 0.267}, [3]float64{140, 11_200, 9}),
	}
}

// dataSets is the number of data sets drawn to see what the draw of the data
// contributes.
const dataSets = 40

func table3() experiment.Experiment {
	return experiment.Experiment{
		Name:    "table3",
		Title:   "Sums of integers: relative error and messages of SumDP, GKMPS, BBGN and central DP",
		Source:  paper + ", Table 3",
		Without: []string{experiment.FlagData}, Settings: zeroOut,
		Bind: func(f *flag.FlagSet) experiment.Run {
			values := f.String("values", "", "`file` with one integer in {0, …, bound} per line, instead of the paper's data")
			bound := f.Int64("bound", 0, "bound U of the inputs of --values")
			return bindBudget(f, 1, func(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
				columns := table3Columns()
				switch {
				case *values != "":
					p, err := readValues(*values, *bound)
					if err != nil {
						return nil, err
					}
					columns = []column{{name: "values", bound: *bound, draw: func(*rand.Rand) population { return p }}}
				case *bound != 0:
					return nil, fl.Invalid("--bound", *bound, "goes with --values only")
				}
				return runTable3(ctx, env, b, columns)
			})
		},
	}
}

func runTable3(ctx context.Context, env experiment.Env, b budget, columns []column) (*experiment.Result, error) {
	others := dataSets
	if env.Quick {
		others = 5
	}
	repeats, groups, note := sumRepeats(env)
	r := &experiment.Result{
		Columns: []string{"data", "clients", "bound", "largest", "mechanism", "error_percent", "paper_error_percent", "messages_per_client", "paper_messages_per_client", "bits_per_client", "median_error_percent", "lowest_error_percent", "highest_error_percent", "error_percent_low", "error_percent_high"},
		Notes: []string{
			fmt.Sprintf("ε = %g, δ = %g, β = %g, %s; %s.", b.epsilon, paperDelta, paperBeta, b.relation, note),
			"The paper's errors hold for zero-out. Under replace-one SumDP gives every sub-domain half of the budget.",
			fmt.Sprintf("The seed draws the data, too. The median, lowest and highest errors are over %d other draws of the data. SumDP drops the few largest inputs, and they differ from draw to draw.", others),
			"The paper does not say whether normal variables outside of {1, …, U} are clamped or discarded: both are here. Its real data need an account: the stand-ins are lognormal, with its number of clients, bound and largest input. Their means are ours, so that only orders of magnitude compare.",
			references,
			intervals,
			"The paper's messages for GKMPS are about 7 times fewer than its theorem certifies. Ours are certified.",
		},
	}
	env.Progress.Describe("table3")
	env.Progress.Grow(len(columns) * (len(sumNames)*repeats*groups + others))
	panels := []figure.Panel{table3Panel(b, "simulated data", columns[0].errors != nil)}
	if len(columns) > 1 {
		panels = append(panels, table3Panel(b, "stand-ins for real data", true))
	} else {
		panels[0].Title = fmt.Sprintf("ε = %g, %s", b.epsilon, b.relation)
	}
	var found []measuredColumn
	for i, c := range columns {
		p := c.draw(experiment.Stream(env.Seed, 3, uint64(i)))
		panel := &panels[0]
		if c.isStandIn {
			panel = &panels[1]
		}
		m := measuredColumn{column: c, groups: groups, errors: map[string]experiment.Interval{}, messages: map[string]float64{}}
		for k, name := range sumNames {
			s, err := newSummer(name, p, c.bound, b.epsilon, b.relation)
			if err != nil {
				return nil, err
			}
			o, err := run(ctx, env, c.name+"/"+name, s, p, p.total(), repeats, groups, 3, uint64(i), uint64(k))
			if err != nil {
				return nil, err
			}
			e := o.relative(p.total())
			m.errors[name], m.messages[name] = e, o.messages.Value
			row := experiment.Row{c.name, p.clients(), c.bound, p.largest(1), name, e.Value, nil, o.messages.Value, nil, o.bits, nil, nil, nil, e.Low, e.High}
			if s.bitsPerMessage() == 0 {
				row[7], row[9] = nil, nil
			}
			if c.errors != nil && k < len(c.errors) {
				row[6] = c.errors[k]
				if k < len(c.messages) {
					row[8] = c.messages[k]
				}
			}
			if name == sumDPName {
				if m.spread, err = drawAgain(ctx, env, b, c, others, uint64(i)); err != nil {
					return nil, err
				}
				row[10], row[11], row[12] = stat.Quantile(0.5, stat.Empirical, m.spread, nil), m.spread[0], m.spread[others-1]
			}
			r.Rows = append(r.Rows, row)
			for at := range panel.Series {
				switch panel.Series[at].Name {
				case name:
					panel.Series[at].AddNext(e.Value, e.Low, e.High)
				case name + ", the paper's":
					panel.Series[at].Y = append(panel.Series[at].Y, c.errors[k])
				}
			}
		}
		panel.Categories = append(panel.Categories, shorten.Replace(c.name))
		found = append(found, m)
	}
	r.Verdicts = table3Claims(found)
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: panels}
	return r, nil
}

// table3Panel has a series for each mechanism, and one for the paper's numbers where there are any.
func table3Panel(b budget, what string, paper bool) figure.Panel {
	panel := figure.Panel{Title: fmt.Sprintf("%s, ε = %g, %s", what, b.epsilon, b.relation), YLabel: "relative error of the sum, %", LogY: true}
	for i, name := range sumNames {
		panel.Series = append(panel.Series, figure.Series{Name: name, Style: figure.Points})
		if i < len(column{}.messages)+1 && paper {
			panel.Series = append(panel.Series, figure.Series{Name: name + ", the paper's", Of: name, Style: figure.Points})
		}
	}
	return panel
}

// drawAgain returns the errors of SumDP on fresh data sets, sorted, in percent.
func drawAgain(ctx context.Context, env experiment.Env, b budget, c column, draws int, column uint64) ([]float64, error) {
	found, err := env.Checkpoint.Do(c.name+"/other draws", func() ([]float64, error) {
		found := make([]float64, draws)
		return found, repeat(ctx, env, draws, func(i int) error {
			p := c.draw(experiment.Stream(env.Seed, 33, column, uint64(i)))
			s, err := newSummer(sumDPName, p, c.bound, b.epsilon, b.relation)
			if err != nil {
				return err
			}
			once := env
			once.Progress, once.Checkpoint, once.Jobs = nil, nil, 1
			o, err := run(ctx, once, "", s, p, p.total(), 5, 1, 34, column, uint64(i))
			found[i] = o.relative(p.total()).Value
			return err
		})
	})
	slices.Sort(found)
	return found, err
}
