// Package pretrain makes the weights of the public glyph features and measures what they can
// do before anybody has trained on them. Use it to check the weights that the module ships, or
// to make others. Start with go run ./bench pretrain.
//
// Package recipe does the work and draws all pictures itself. This package only measures its
// results, on MNIST, too, if it is given the files.
package pretrain

import (
	"context"
	"encoding/hex"
	"fmt"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/fl"
)

// Experiments returns the experiments of the package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{
		Name:     "pretrain",
		Title:    "Public features: weights from handwriting fonts, or from drawn clothes and cloth, and their zero-shot accuracy",
		Source:   "Our own recipe, docs/pretraining.md; no paper",
		Without:  []string{experiment.FlagRepeats},
		Alone:    true,
		DataHelp: "`directory` with the four MNIST files, or download: the network is measured on their test pictures, too, and never trained on them. Empty: it is not",
		Aside:    []string{"fonts", "weights"},
		Bind:     bind,
	}, {
		Name:    "warm",
		Title:   "Warm starts: rehearsals on fonts that the public model has not seen, with one constant of the plan changed at a time",
		Source:  "Our own rule, docs/training.md; no paper",
		Without: []string{experiment.FlagRepeats},
		Aside:   []string{"fonts"},
		Bind:    bindWarm,
	}, {
		Name:    "letters",
		Title:   "Public glyph features: a last layer that tells the 26 letters apart, from handwriting fonts, and its zero-shot accuracy",
		Source:  "Our own recipe, docs/pretraining.md; no paper",
		Without: []string{experiment.FlagRepeats, experiment.FlagData},
		Alone:   true,
		Aside:   []string{"fonts", "weights"},
		Bind:    bindLetters,
	}}
}

// options are the flags of the experiment.
type options struct{ pictures, size, fonts, weights string }

func bind(f *flag.FlagSet) experiment.Run {
	o := &options{}
	f.StringVar(&o.pictures, "pictures", characters, "`kind` of pictures to train on: characters, of handwriting fonts, or cloth: clothes, shoes and bags, and cloth alone, drawn by a law")
	f.StringVar(&o.size, "size", recipe.Small.Name, "`size` of the network: small or big")
	f.StringVar(&o.fonts, "fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
	f.StringVar(&o.weights, "weights", "", "`file` for the weights; empty: they are measured and not kept")
	return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return run(ctx, env, o) }
}

// settings returns the settings of a size. A quick run is a hundredth as long, and its weights are
// of no use.
func settings(size string, quick bool) (recipe.Settings, error) {
	s := recipe.Settings{Size: recipe.Small, Stages: 12, Steps: 400, Batch: 128, Rate: 2e-3}
	switch size {
	case recipe.Small.Name:
	case recipe.Big.Name:
		s.Size = recipe.Big
	default:
		return s, fl.Invalid("--size", size, "must be %s or %s", recipe.Small.Name, recipe.Big.Name)
	}
	if quick {
		s.Stages, s.Steps = 2, 24
	}
	return s, nil
}

// componentPictures is the number of pictures that the mean and the components are computed from.
const componentPictures = 10_000

// The kinds of pictures that networks are trained on.
const (
	characters = "characters"
	cloth      = "cloth"
)

func run(ctx context.Context, env experiment.Env, o *options) (*experiment.Result, error) {
	s, err := settings(o.size, env.Quick)
	if err != nil {
		return nil, err
	}
	s.Jobs = env.Jobs
	var of recipe.Pictures
	var train, heldOut *recipe.Set
	switch o.pictures {
	case characters:
		if o.fonts, err = FontCache(o.fonts); err != nil {
			return nil, err
		}
		env.Progress.Describe("fonts")
		if train, heldOut, err = recipe.Load(ctx, o.fonts, env.Seed); err != nil {
			return nil, err
		}
		of = train
	case cloth:
		of = recipe.Cloth{Seed: env.Seed}
	default:
		return nil, fl.Invalid("--pictures", o.pictures, "must be %s or %s", characters, cloth)
	}
	env.Progress.Describe("pretrain")
	env.Progress.Grow(s.Stages * s.Steps)
	params, err := recipe.Train(ctx, of, s, func(stage string, compute func() ([]float64, error)) ([]float64, error) {
		return env.Checkpoint.Do(o.pictures+" "+o.size+" "+stage, compute)
	}, env.Progress.Step)
	if err != nil {
		return nil, err
	}
	network, err := recipe.Finish(of, s.Size, params, componentPictures)
	if err != nil {
		return nil, err
	}
	digest := network.Digest()
	r := &experiment.Result{
		Columns: []string{"pictures", "trained_on", "count", "classes", "accuracy"},
		Notes: []string{
			fmt.Sprintf("%d pictures, each seen once. SHA-256 of the weights: %s", s.Stages*s.Steps*s.Batch, hex.EncodeToString(digest[:])),
			"Every picture that is measured is a new one. trained_on says whether others of the same fonts, or the same law, were trained on.",
		},
	}
	m := measurement{Result: r, size: s.Size, params: params, network: network, count: measured}
	if env.Quick {
		m.count = measuredQuick
	}
	if o.pictures == cloth {
		err = m.cloth(ctx, recipe.Cloth{Seed: env.Seed})
	} else {
		err = m.characters(ctx, env, train, heldOut)
	}
	if err != nil {
		return nil, err
	}
	if o.weights != "" {
		if err := write(o.weights, network); err != nil {
			return nil, err
		}
	}
	return r, nil
}
