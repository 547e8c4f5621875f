package shufflesum

import (
	"context"
	"fmt"
	"math"
	"slices"

	flag "github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func reals() experiment.Experiment {
	return experiment.Experiment{
		Name:    "reals",
		Title:   "Sums of real numbers in [0, 1], in U buckets: error against U",
		Source:  paper + ", Section 1, real summation",
		Without: []string{experiment.FlagData}, Settings: zeroOut,
		Bind: func(f *flag.FlagSet) experiment.Run {
			return bindBudget(f, 1, runReals)
		},
	}
}

// buckets rounds each number to the nearest multiple of 1/U.
func buckets(numbers []float64, bound int64) population {
	values := make([]int64, len(numbers))
	for i, x := range numbers {
		values[i] = int64(math.Round(x * float64(bound)))
	}
	return counted(values)
}

func runReals(ctx context.Context, env experiment.Env, b budget) (*experiment.Result, error) {
	const n = 100_000
	repeats, groups, note := sumRepeats(env)
	rng, numbers := experiment.Stream(env.Seed, 6), make([]float64, n)
	for i := range numbers {
		numbers[i] = min(1, 0.02*math.Exp(0.5*rng.NormFloat64()))
	}
	truth := floats.SumCompensated(numbers)
	r := &experiment.Result{
		Columns: []string{"clients", "bound", "mechanism", "error", "error_low", "error_high", "rounding_error", "rounding_bound", "sum"},
		Notes: []string{
			fmt.Sprintf("n = %d, ε = %g, δ = %g, β = %g, %s; %s.", n, b.epsilon, paperDelta, paperBeta, b.relation, note),
			fmt.Sprintf("Numbers are lognormal with median 0.02 and standard deviation 0.5 of the logarithm, at most 1. Their sum is %.5g and the largest is %.3g. The paper has no such experiment: it says that buckets add an error of O(n/U).", truth, slices.Max(numbers)),
			"rounding_error is the error of the sum of rounded numbers without privacy, and rounding_bound is n/(2U).",
			intervals,
		},
	}
	names := []string{sumDPName, "BBGN"}
	panel := figure.Panel{Title: fmt.Sprintf("ε = %g, %s", b.epsilon, b.relation), XLabel: "number of buckets, U", YLabel: "absolute error of the sum", LogX: true, LogY: true}
	for _, name := range names {
		panel.Series = append(panel.Series, figure.Series{Name: name, Style: figure.LinePoints})
	}
	limit := figure.Series{Name: "n/(2U), rounding at most", Style: figure.Dashed}
	bounds := []int64{1e2, 1e3, 1e4, 1e5, 1e6}
	env.Progress.Describe("reals")
	env.Progress.Grow(len(bounds) * len(names) * repeats * groups)
	within, worst, errors := true, 0., map[string][]float64{}
	for i, bound := range bounds {
		p := buckets(numbers, bound)
		rounding, most := math.Abs(p.total()/float64(bound)-truth), float64(n)/float64(2*bound)
		within, worst = within && rounding <= most*(1+1e-9), max(worst, rounding/most)
		for k, name := range names {
			s, err := newSummer(name, p, bound, b.epsilon, b.relation)
			if err != nil {
				return nil, err
			}
			o, err := run(ctx, env, fmt.Sprintf("%d/%s", bound, name), s, p, truth*float64(bound), repeats, groups, 6, uint64(i), uint64(k))
			if err != nil {
				return nil, err
			}
			e := o.relative(100 * float64(bound)) // in units of the numbers
			r.Rows = append(r.Rows, experiment.Row{n, bound, name, e.Value, e.Low, e.High, rounding, most, truth})
			errors[name] = append(errors[name], e.Value)
			panel.Series[k].Add(float64(bound), e.Value, e.Low, e.High)
		}
		limit.X, limit.Y = append(limit.X, float64(bound)), append(limit.Y, most)
	}
	panel.Series = append(panel.Series, limit)
	last := len(bounds) - 1
	r.Verdicts = []experiment.Verdict{{
		Claim:   "Section 1, real sums: U buckets add an error of n/(2U) at most",
		Holds:   within,
		Ours:    fmt.Sprintf("%.3g of n/(2U) at most", worst),
		Section: "1", Quote: "incurs an extra additive error of O(n/U)", Criterion: "at most n/(2U) at every U",
		Detail: fmt.Sprintf("for U = %d to %d", bounds[0], bounds[last]),
	}, {
		Criterion: "less than ten times the largest number over ε",
		Claim:     "real sums: with enough buckets only SumDP's noise is left, which follows the largest number",
		Holds:     errors[sumDPName][last] < 10*slices.Max(numbers)/b.epsilon,
		Ours:      fmt.Sprintf("an error of %.3g at U = %d", errors[sumDPName][last], bounds[last]),
		Detail:    fmt.Sprintf("BBGN's is %.3g", errors["BBGN"][last]),
	}}
	r.Plot = &figure.Figure{ErrorBars: experiment.ErrorBars, Panels: []figure.Panel{panel}}
	return r, nil
}
