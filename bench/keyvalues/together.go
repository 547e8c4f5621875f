package keyvalues

import (
	"context"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// togetherName names the experiment that all figures are part of.
var togetherName = fmt.Sprintf("figs%d-%d", figures[0].number, figures[len(figures)-1].number)

// together is all the figures in one run: every simulation is done once.
func together() experiment.Experiment {
	first, last := figures[0].number, figures[len(figures)-1].number
	return experiment.Experiment{
		Name:    togetherName,
		Title:   fmt.Sprintf("Key-value pairs: Figures %d to %d in one run, every simulation done once", first, last),
		Source:  fmt.Sprintf("%s, Figures %d to %d", paper, first, last),
		Without: []string{experiment.FlagData, experiment.FlagSeeds}, Settings: []string{"--repeats=5"}, // 100 take hours
		Bind: bind(func(ctx context.Context, env experiment.Env, clients int, own []experiment.Own) (*experiment.Result, error) {
			return runFigures(ctx, env, clients, own, slices.Clone(figures))
		}),
	}
}
