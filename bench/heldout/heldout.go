// Package heldout draws pictures by laws on which nothing of this module was chosen: digits and letters of handwriting fonts that no network
// was trained on and no constant was found on, and patches of textured surfaces. Use it to measure features and plans on pictures that
// they have not met. Start with [Draw].
package heldout

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/glyph"
)

// Kinds of pictures, by the names of the public pictures that are like them.
var kinds = map[string]int{dataset.Digits: recipe.Digits, dataset.Letters: recipe.LetterClasses, dataset.Textures: len(surfaces)}

// Kinds are the kinds of pictures that Draw draws, sorted.
func Kinds() []string { return []string{dataset.Digits, dataset.Letters, dataset.Textures} }

// Options say what to draw.
type Options struct {
	Kind        string // one of Kinds
	Train, Test int    // pictures
	Seed        uint64
	Fonts       string // directory that keeps the fonts
	// Skew makes class i of the training pictures (i+1)^Skew times as rare as class 0. 0: all are as likely.
	Skew float64
}

// Draw draws a training set and a test set. Classes of the test set are as likely as each other. Fonts come from the directory or, once, from
// the npm registry.
func Draw(ctx context.Context, o Options) (*dataset.Data, error) {
	classes, ok := kinds[o.Kind]
	switch {
	case !ok:
		return nil, fl.Invalid("--kind", o.Kind, "must be one of %s", strings.Join(Kinds(), ", "))
	case o.Train < 2 || o.Train > mostPictures:
		return nil, fl.Invalid("--train", o.Train, "must be in [2, %d]", mostPictures)
	case o.Test < 2 || o.Test > mostPictures:
		return nil, fl.Invalid("--test", o.Test, "must be in [2, %d]", mostPictures)
	case !(o.Skew >= 0 && o.Skew <= 10):
		return nil, fl.Invalid("--skew", o.Skew, "must be in [0, 10]")
	}
	draw := func(dst []float64, class int, rng *rand.Rand, _ *recipe.Pencil) { surface(dst, class, rng) }
	if o.Kind != dataset.Textures {
		fonts, err := recipe.LoadUnseen(ctx, o.Fonts, o.Seed)
		if err != nil {
			return nil, err
		}
		draw = func(dst []float64, class int, rng *rand.Rand, p *recipe.Pencil) {
			if o.Kind == dataset.Letters { // behind the digits, and the small ones behind the capitals
				class += recipe.Digits + recipe.LetterClasses*rng.IntN(2)
			}
			p.DrawClass(dst, fonts, class, rng)
		}
	}
	set := func(split uint64, n int, skew float64) (*dataset.Set, error) {
		below := shares(classes, skew)
		s := &dataset.Set{Images: make([]float64, n*glyph.Side*glyph.Side), Labels: make([]int, n), Rows: glyph.Side, Cols: glyph.Side, Classes: classes}
		group, ctx := errgroup.WithContext(ctx)
		parts := runtime.GOMAXPROCS(0)
		for k := range parts {
			group.Go(func() error {
				pencil := recipe.NewPencil()
				for i := k; i < n; i += parts {
					if err := ctx.Err(); err != nil {
						return err
					}
					rng := experiment.Stream(o.Seed, 210+split, uint64(i))
					class, _ := slices.BinarySearch(below, rng.Float64())
					s.Labels[i] = min(class, classes-1)
					draw(s.Image(i), s.Labels[i], rng, pencil)
				}
				return nil
			})
		}
		return s, group.Wait()
	}
	train, err := set(0, o.Train, o.Skew)
	if err != nil {
		return nil, err
	}
	test, err := set(1, o.Test, 0)
	if err != nil {
		return nil, err
	}
	return &dataset.Data{Train: train, Test: test, Source: dataset.SourceGenerated, Note: fmt.Sprintf("held-out %s drawn with seed %d", o.Kind, o.Seed)}, nil
}

const mostPictures = 1_000_000

// shares are the probabilities of a class up to each one.
func shares(classes int, skew float64) []float64 {
	below, sum := make([]float64, classes), 0.
	for i := range below {
		sum += math.Pow(float64(i+1), -skew)
		below[i] = sum
	}
	for i := range below {
		below[i] /= sum
	}
	return below
}
