package pretrain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	flag "github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// warmSetting is a federation whose run starts from the public model.
type warmSetting struct {
	trust   plan.Trust
	clients int
	budget  float64
}

// warmSettings have from very little noise to as much as hides everything.
var warmSettings = []warmSetting{
	{plan.Nobody, 60000, 4}, {plan.Nobody, 60000, 2}, {plan.Nobody, 60000, 1}, {plan.Nobody, 6000, 4}, {plan.Nobody, 6000, 2}, {plan.Nobody, 1000, 4},
	{plan.Shuffler, 60000, 1}, {plan.Shuffler, 60000, 0.25}, {plan.Shuffler, 60000, 0.1}, {plan.Shuffler, 6000, 1}, {plan.Shuffler, 6000, 0.25}, {plan.Shuffler, 1000, 1},
	{plan.TwoServers, 6000, 1}, {plan.TwoServers, 1000, 1}, {plan.TwoServers, 600, 4}, {plan.TwoServers, 200, 8},
}

// What is varied around the plan: the share of the public model that the run starts from, the clip over the norm of gradients at a model of
// zeros, and the learning rate.
var (
	warmFactors = []float64{0, 0.125, 0.25, 0.5, 1}
	warmClips   = []float64{0.05, 0.1, 0.2, 0.4, 0.7, 1}
	warmRates   = []float64{0.5, 2}
)

// heldOutDigits is how many digits of fonts that were held out the runs are rehearsed on.
const (
	heldOutDigits      = 12_000
	heldOutDigitsQuick = 600
)

func bindWarm(f *flag.FlagSet) experiment.Run {
	fonts := f.String("fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
	letters := f.Bool("letters", false, "26 letters in place of ten digits")
	return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
		return warm(ctx, env, *fonts, *letters)
	}
}

// warm rehearses runs from the public model on digits, or letters, of fonts that it has not seen, as planned and with one thing changed.
func warm(ctx context.Context, env experiment.Env, fonts string, letters bool) (*experiment.Result, error) {
	fonts, err := FontCache(fonts)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("fonts")
	_, heldOut, err := recipe.Load(ctx, fonts, env.Seed)
	if err != nil {
		return nil, err
	}
	count, settings := heldOutDigits, warmSettings
	if env.Quick {
		count, settings = heldOutDigitsQuick, warmSettings[:1]
	}
	one, open, classes := recipe.NewPencil().DrawDigit, features.Glyphs, recipe.Digits
	if letters {
		one, open, classes = recipe.NewPencil().DrawLetter, features.GlyphsOfLetters, recipe.LetterClasses
	}
	x, labels := draw(heldOut, count, one)
	glyphs, err := open(features.GlyphsSmall)
	if err != nil {
		return nil, err
	}
	first, _, err := features.FirstModel(ctx, glyphs, x[:256], nil)
	if err != nil {
		return nil, err
	}
	zeroShot, _, err := features.ZeroShot(ctx, glyphs, x, labels, env.Progress)
	if err != nil {
		return nil, err
	}
	vectors, err := features.All(ctx, glyphs, x, env.Progress)
	if err != nil {
		return nil, err
	}
	examples, err := plan.NewExamples(slices.Collect(slices.Chunk(vectors, glyphs.Dim())), labels, classes)
	if err != nil {
		return nil, err
	}
	ask := plan.Request{
		Mechanism: "auto", Dim: examples.Dim(), Delta: 1e-6, Centred: features.Centred(glyphs), Examples: examples, First: first, ZeroShot: zeroShot, Force: true,
	}
	if ask.Public, err = examples.Sample(); err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"trust", "clients", "budget", "mechanism", "votes", "varied", "value", "accuracy", "error", "planned_accuracy", "zero_shot", "no_privacy"},
		Notes:   []string{fmt.Sprintf("Rehearsals on %d pictures of %d classes in fonts that the network had not seen; zero-shot accuracy %.3f. A client holds one picture.", count, classes, zeroShot)},
	}
	rows := make([][]experiment.Row, len(settings))
	env.Progress.Describe("warm starts")
	env.Progress.Grow(len(settings) * (1 + len(warmFactors) + len(warmClips) + len(warmRates)))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(env.Jobs)
	for i, s := range settings {
		group.Go(func() (err error) {
			rows[i], err = s.vary(ctx, ask, env.Progress.Step)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	r.Rows = slices.Concat(rows...)
	return r, nil
}

// vary plans a setting, and changes one thing at a time.
func (s warmSetting) vary(ctx context.Context, q plan.Request, step func()) (rows []experiment.Row, err error) {
	q.Trust, q.Clients, q.Budget = s.trust, s.clients, s.budget
	planned, err := q.Run(ctx)
	if err != nil {
		return nil, err
	}
	add := func(varied string, value float64, change func(q *plan.Request) error) error {
		ask := q
		if err := change(&ask); err != nil {
			return err
		}
		run, err := ask.Run(ctx)
		if err != nil {
			return err
		}
		e, o := run.Expected, planned.Outlook
		rows = append(rows, experiment.Row{string(s.trust), s.clients, s.budget, run.Mechanism, o.Votes, varied, value, e.Accuracy, e.Error, o.Accuracy, e.Before, e.WithoutPrivacy})
		step()
		return nil
	}
	if err := add("nothing", 0, func(*plan.Request) error { return nil }); err != nil {
		return nil, err
	}
	for _, f := range warmFactors {
		if err := add("factor", f, func(q *plan.Request) error {
			q.First = slices.Clone(q.First)
			floats.Scale(f/planned.Outlook.Factor, q.First)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	l1, l2 := q.Public.Norms()
	for _, c := range warmClips {
		if err := add("clip", c, func(q *plan.Request) error {
			q.Mechanism = planned.Mechanism
			if q.Clip = c * l2; planned.Sparsity > 0 {
				q.Clip = c * l1
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, rate := range warmRates {
		if err := add("rate", rate, func(q *plan.Request) error {
			q.LearningRate = rate * planned.LearningRate
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// FontCache returns the directory that keeps the fonts.
func FontCache(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "hushgrad", "fonts"), err
}
