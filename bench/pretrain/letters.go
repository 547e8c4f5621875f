package pretrain

import (
	"context"
	"fmt"
	"os"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// letterPictures is how many pictures the last layer for letters is trained on.
const (
	letterPictures      = 120_000
	letterPicturesQuick = 4_000
)

func bindLetters(f *flag.FlagSet) experiment.Run {
	o := &options{}
	f.StringVar(&o.size, "size", features.GlyphsSmall, "`size` of the network: small or big")
	f.StringVar(&o.fonts, "fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
	f.StringVar(&o.weights, "weights", "", "`file` for the last layer; empty: it is not kept")
	return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) { return letters(ctx, env, o) }
}

// letters trains the last layer, and measures the one that the module ships on fonts that were trained on and on others.
func letters(ctx context.Context, env experiment.Env, o *options) (*experiment.Result, error) {
	network, err := features.GlyphNetwork(o.size)
	if err != nil {
		return nil, err
	}
	fonts, err := FontCache(o.fonts)
	if err != nil {
		return nil, err
	}
	env.Progress.Describe("fonts")
	train, heldOut, err := recipe.Load(ctx, fonts, env.Seed)
	if err != nil {
		return nil, err
	}
	count, test := letterPictures, measured
	if env.Quick {
		count, test = letterPicturesQuick, measuredQuick
	}
	env.Progress.Describe("letters")
	file, err := recipe.LetterHead(ctx, train, network, count)
	if err != nil {
		return nil, err
	}
	if o.weights != "" {
		if err := os.WriteFile(o.weights, file, 0o644); err != nil {
			return nil, err
		}
	}
	shipped, err := features.GlyphsOfLetters(o.size)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{
		Columns: []string{"pictures", "trained_on", "count", "classes", "accuracy"},
		Notes:   []string{fmt.Sprintf("%d pictures of letters, each seen several times. Every picture that is measured is a new one, and the last layer is the one in trainer/features/weights.", count)},
	}
	pencil := recipe.NewPencil()
	for _, kind := range []struct {
		name    string
		set     *recipe.Set
		trained bool
	}{{"letters, fonts of the training", train, true}, {"letters, fonts held out", heldOut, false}} {
		x, labels := draw(kind.set, test, pencil.DrawLetter)
		accuracy, _, err := features.ZeroShot(ctx, shipped, x, labels, nil)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, experiment.Row{kind.name, kind.trained, test, recipe.LetterClasses, accuracy})
	}
	return r, nil
}
