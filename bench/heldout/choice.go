package heldout

import (
	"context"
	"fmt"
	"slices"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/plan"
)

// Experiments returns the experiment that compares the choice of features with what is best on pictures that are held out.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:    "choice",
		Title:   "--features auto: the features that public pictures choose, and what all features reach on held-out pictures of the kind",
		Source:  "Our own rule, docs/training.md; no paper",
		Without: []string{experiment.FlagRepeats, experiment.FlagData},
		Alone:   true,
		Aside:   []string{"fonts"},
		Bind: func(f *flag.FlagSet) experiment.Run {
			fonts := f.String("fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				return choice(ctx, env, *fonts)
			}
		},
	}}
}

// setting is a federation whose clients hold one picture each.
type setting struct {
	trust   plan.Trust
	clients int
	budget  float64
}

// settings are from much noise to little.
var settings = []setting{{plan.Nobody, 60000, 4}, {plan.Shuffler, 6000, 1}}

// rehearsed is how many held-out pictures a run is rehearsed on.
const (
	rehearsed      = 6000
	rehearsedQuick = 600
)

func choice(ctx context.Context, env experiment.Env, fonts string) (*experiment.Result, error) {
	fonts, err := pretrain.FontCache(fonts)
	if err != nil {
		return nil, err
	}
	settings, n := settings, rehearsed
	if env.Quick {
		settings, n = settings[1:], rehearsedQuick
	}
	r := &experiment.Result{
		Columns: []string{"pictures", "trust", "clients", "budget", "features", "dim", "chosen", "public", "accuracy", "error"},
		Notes: []string{
			fmt.Sprintf("Rehearsals of the planned run: public has the accuracy on public pictures of the kind, which decide, and accuracy the one on %d held-out pictures, which do not. A single run is within error of accuracy, 95 times in 100.", n),
		},
	}
	env.Progress.Describe("choices")
	env.Progress.Grow(len(Kinds()) * len(settings))
	for _, kind := range Kinds() {
		data, err := Draw(ctx, Options{Kind: kind, Train: n, Test: 2, Seed: env.Seed, Fonts: fonts})
		if err != nil {
			return nil, err
		}
		right, worst := 0, ""
		for _, s := range settings {
			rows, err := s.compare(ctx, dataset.Chosen(dataset.AutoFeatures), kind, data)
			if err != nil {
				return nil, err
			}
			best := slices.MaxFunc(rows, func(a, b compared) int { return int(1e6 * (a.accuracy - b.accuracy)) })
			for _, c := range rows {
				r.Rows = append(r.Rows, experiment.Row{kind, string(s.trust), s.clients, s.budget, c.features, c.dim, c.chosen, c.public, c.accuracy, c.wrong})
				if c.chosen && c.accuracy >= best.accuracy-best.wrong {
					right++
				} else if c.chosen {
					worst = fmt.Sprintf("%s with %.3f in place of %s with %.3f ± %.3f", c.features, c.accuracy, best.features, best.accuracy, best.wrong)
				}
			}
			env.Progress.Step()
		}
		r.Verdicts = append(r.Verdicts, experiment.Verdict{
			Claim: fmt.Sprintf("held-out %s: the chosen features are within the interval of the best", kind), Holds: right == len(settings),
			Ours: fmt.Sprintf("%d of %d settings", right, len(settings)), Detail: worst,
		})
	}
	return r, nil
}

// compared are features at a setting.
type compared struct {
	features                string
	dim                     int
	chosen                  bool
	public, accuracy, wrong float64
}

// compare chooses among features as the demo does, and rehearses the run with each on held-out pictures.
func (s setting) compare(ctx context.Context, names []string, kind string, data *dataset.Data) (out []compared, err error) {
	q := plan.Request{Mechanism: mechanisms.Auto, Trust: s.trust, Clients: s.clients, Budget: s.budget, Delta: 1e-6, Force: true}
	choice, err := dataset.Choose(ctx, names, q, []string{kind}, data.Train.Classes, nil)
	if err != nil {
		return nil, err
	}
	for i, c := range choice.Considered {
		f, err := dataset.OpenFeatures(ctx, c.Features, nil)
		if err != nil {
			return nil, err
		}
		public, err := dataset.NewPublic(ctx, kind, data.Train.Classes, f, dataset.ToPlan, nil)
		if err != nil {
			return nil, err
		}
		in, err := data.In(ctx, f, nil)
		if err != nil {
			return nil, err
		}
		ask := q
		public.Fill(&ask)
		if ask.Examples, err = plan.NewExamples(in.Train.All(), in.Train.Labels, in.Train.Classes); err != nil {
			return nil, err
		}
		run, err := ask.Run(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, compared{c.Features, c.Dim, i == 0, c.Expected[0].Accuracy, run.Expected.Accuracy, run.Expected.Error})
	}
	return out, nil
}
