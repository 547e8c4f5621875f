package keyvalues

import (
	"context"
	"fmt"
	"math"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// coefficients is Figure 4: what an allocation makes of the error of a mean, which is proportional to
// g + h·m² for rare keys.
func coefficients() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig4-pckv",
		Title:   "PCKV: coefficients g and h of the error of a mean, for three ways to split ε",
		Source:  pckvPaper + ", Figure 4",
		Without: []string{experiment.FlagData, experiment.FlagQuick, experiment.FlagRepeats, experiment.FlagSeed},
		Bind: func(*flag.FlagSet) experiment.Run {
			return func(context.Context, experiment.Env) (*experiment.Result, error) { return runCoefficients() }
		},
	}
}

// ofMean returns g = b/(a²(2p−1)²) and h = b(1−b)/(a−b)² of equation (18).
func ofMean(c keyvalue.Channel) (g, h float64) {
	return c.Background / (c.Sign * c.Sign), c.Background * (1 - c.Background) / (c.Hold * c.Hold)
}

func runCoefficients() (*experiment.Result, error) {
	r := &experiment.Result{
		Columns: []string{"allocation", "epsilon", "epsilon_key", "epsilon_value", "g", "h"},
		Notes:   []string{"PCKV-UE. For a rare key the MSE of the mean m is proportional to g + h·m²."},
		Plot:    &figure.Figure{Columns: 2},
	}
	panels := []figure.Panel{{YLabel: "coefficient g"}, {YLabel: "coefficient h, of m²"}}
	for i := range panels {
		panels[i].XLabel, panels[i].LogY = epsilonTitle, true
	}
	values := map[string]map[float64][2]float64{}
	var epsilons []float64
	for e := 0.5; e <= 6; e += 0.5 {
		epsilons = append(epsilons, e)
	}
	for _, a := range allocations {
		values[a.name] = map[float64][2]float64{}
		series := [2]figure.Series{{Name: a.name, Style: figure.LinePoints}, {Name: a.name, Style: figure.LinePoints}}
		for _, epsilon := range epsilons {
			b, err := a.by.UE(epsilon)
			if err != nil {
				return nil, err
			}
			g, h := ofMean(b.UE())
			values[a.name][epsilon] = [2]float64{g, h}
			r.Rows = append(r.Rows, experiment.Row{a.name, epsilon, b.Key, b.Value, g, h})
			for k, v := range [2]float64{g, h} {
				series[k].X, series[k].Y = append(series[k].X, epsilon), append(series[k].Y, v)
			}
		}
		for k := range panels {
			panels[k].Series = append(panels[k].Series, series[k])
		}
	}
	r.Plot.Panels = panels
	smaller, larger, sum := 0, 0, 0
	ratio, growth := 0.0, 0.0
	for _, epsilon := range epsilons {
		n, o, b := values["naive"][epsilon], values["non-optimized"][epsilon], values["optimized"][epsilon]
		if b[0] < n[0] && b[0] < o[0] {
			smaller++
		}
		ratio += math.Log(min(n[0], o[0])/b[0]) / float64(len(epsilons))
		if b[1] > o[1] {
			larger++
		}
		growth = max(growth, b[1]/o[1])
		if b[0]+b[1] < o[0]+o[1] {
			sum++
		}
	}
	in := func(n int) string { return fmt.Sprintf("at %d of %d ε, exact", n, len(epsilons)) }
	const section = "5.4"
	r.Verdicts = []experiment.Verdict{
		{
			Claim: "Figure 4: the optimized allocation has a much smaller g than both others", Holds: smaller == len(epsilons) && math.Exp(ratio) >= 1.25,
			Section: section, Quote: "has a much smaller g than the other two",
			Criterion: "smaller at every ε, and the others' at least 1.25 times in the geometric mean", Ours: fmt.Sprintf("%s, %.3g times", in(smaller), math.Exp(ratio)),
		},
		{
			Claim: "Figure 4: the optimized allocation has a little larger h than the non-optimized one", Holds: larger == len(epsilons) && growth <= 2,
			Section: section, Quote: "a little bit larger h than the non-optimized one",
			Criterion: "larger at every ε, and at most twice as large", Ours: fmt.Sprintf("%s, up to %.3g times", in(larger), growth),
		},
		{
			Claim: "Figure 4: the optimized allocation has a smaller g + h than the non-optimized one", Holds: sum == len(epsilons),
			Section: section, Quote: "the decrement of g dominates the increment of h",
			Criterion: "g + h smaller at every ε", Ours: in(sum),
		},
	}
	return r, nil
}
