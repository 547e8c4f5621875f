package keyvalues

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/keyvalue/pckv"
)

const pckvPaper = `Gu et al., "PCKV: Locally Differentially Private Correlated Key-Value Data Collection with Optimized Utility" (2020)`

func allocations() experiment.Experiment {
	return experiment.Experiment{
		Name:    "fig9-pckv",
		Title:   "PCKV: theoretical errors of three ways to split ε",
		Source:  pckvPaper + ", Figure 9",
		Without: []string{experiment.FlagData, experiment.FlagQuick, experiment.FlagRepeats, experiment.FlagSeed},
		Bind: func(flags *flag.FlagSet) experiment.Run {
			clients := flags.Int("clients", 1_000_000, "number of clients")
			dim := flags.Int("dim", 100, "number of keys")
			frequency := flags.Float64("frequency", 0.01, "frequency of the key; it holds values of mean 0")
			return func(context.Context, experiment.Env) (*experiment.Result, error) {
				return runAllocations(*clients, *dim, *frequency)
			}
		},
	}
}

// split is one allocation in the figure.
type split struct {
	name string
	by   pckv.Allocation
}

var splits = []split{{"optimized", pckv.Optimized}, {"even", pckv.Even}, {"naive", pckv.Naive}}

func runAllocations(clients, dim int, frequency float64) (*experiment.Result, error) {
	switch {
	case clients < 1 || clients > fl.MaxReports:
		return nil, fl.Invalid("-clients", clients, "must be in [1, %d]", fl.MaxReports)
	case dim < 2 || dim > fl.MaxDim:
		return nil, fl.Invalid("-dim", dim, "must be in [2, %d]", fl.MaxDim)
	case !(frequency > 0 && frequency <= 1):
		return nil, fl.Invalid("-frequency", frequency, "must be in (0, 1]")
	}
	epsilons := []float64{0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6}
	r := &experiment.Result{
		Columns: []string{"mechanism", "allocation", "epsilon", "frequency_mse", "mean_mse"},
		Notes: []string{
			fmt.Sprintf("n = %d, d = %d, padding length 1, a key of frequency %g.", clients, dim, frequency),
			"Even: ε1 = ε2 with all of ε under the tight budget. Naive: ε1 = ε2 = ε/2 by sequential composition. Which two allocations the paper draws beside the optimized one is our reading.",
		},
		Plot: &figure.Figure{Columns: 2},
	}
	for _, mechanism := range []string{pckv.UE, pckv.GRR} {
		panels := [2]figure.Panel{
			{Title: strings.ToUpper(mechanism), XLabel: epsilonTitle, YLabel: "mean squared error of the frequency", LogX: true, LogY: true},
			{Title: strings.ToUpper(mechanism), XLabel: epsilonTitle, YLabel: "mean squared error of the mean", LogX: true, LogY: true},
		}
		worst := [2]float64{math.Inf(1), math.Inf(1)} // best other allocation over optimized
		optimized := [2][]float64{}
		for _, s := range splits {
			series := [2]figure.Series{{Name: s.name, X: epsilons, Style: figure.LinePoints}, {Name: s.name, X: epsilons, Style: figure.LinePoints}}
			for i, epsilon := range epsilons {
				c, err := channelOf(s.by, mechanism, epsilon, dim, 1)
				if err != nil {
					return nil, err
				}
				errors := [2]float64{c.FrequencyMSE(1, frequency, float64(clients)), c.MeanMSE(1, frequency, 0, float64(clients))}
				r.Rows = append(r.Rows, experiment.Row{mechanism, s.name, epsilon, errors[0], errors[1]})
				for k, e := range errors {
					series[k].Y = append(series[k].Y, e)
					if s.by == pckv.Optimized {
						optimized[k] = append(optimized[k], e)
					} else {
						worst[k] = min(worst[k], e/optimized[k][i])
					}
				}
			}
			for k := range panels {
				panels[k].Series = append(panels[k].Series, series[k])
			}
		}
		r.Plot.Panels = append(r.Plot.Panels, panels[0], panels[1])
		for k, what := range [2]string{"frequency", "mean"} {
			r.Verdicts = append(r.Verdicts, experiment.Verdict{
				Claim:  fmt.Sprintf("%s: the optimized allocation has the smallest %s error at every ε", mechanism, what),
				Holds:  worst[k] >= 1-1e-9,
				Detail: fmt.Sprintf("the best other allocation has at least %.3g times its error", worst[k]),
			})
		}
	}
	return r, nil
}
