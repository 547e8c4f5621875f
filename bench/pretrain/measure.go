package pretrain

import (
	"context"
	"os"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// measured is the number of pictures of each kind that is drawn for a measurement. They begin
// at an index that no training run reaches.
const (
	measured      = 10_000
	measuredQuick = 500
	measuredFrom  = 1 << 40
)

// measure adds one row for each kind of pictures. Digits are classified by the network, which
// knows no other class. All characters are classified by the weights it was made from.
func measure(ctx context.Context, r *experiment.Result, env experiment.Env, size recipe.Size, train, heldOut *recipe.Set, params []float64, n *features.Network) error {
	count := measured
	if env.Quick {
		count = measuredQuick
	}
	model, err := size.Model()
	if err != nil {
		return err
	}
	evaluator, err := model.NewEvaluator(100)
	if err != nil {
		return err
	}
	defer evaluator.Close()
	pencil := recipe.NewPencil()
	for _, kind := range []struct {
		name    string
		set     *recipe.Set
		trained bool
	}{{"characters, fonts of the training", train, true}, {"characters, fonts held out", heldOut, false}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, labels := draw(kind.set, count, pencil.Draw)
		accuracy, _, err := evaluator.Evaluate(params, x, labels)
		if err != nil {
			return err
		}
		r.Rows = append(r.Rows, experiment.Row{kind.name, kind.trained, count, len(recipe.Characters), accuracy})
	}
	digits := func(name string, x [][]float64, labels []int) error {
		accuracy, _, err := features.ZeroShot(ctx, n, x, labels, nil)
		r.Rows = append(r.Rows, experiment.Row{name, false, len(labels), recipe.Digits, accuracy})
		return err
	}
	x, labels := draw(heldOut, count, pencil.DrawDigit)
	if err := digits("digits, fonts held out", x, labels); err != nil {
		return err
	}
	generated, err := dataset.Generate(ctx, dataset.Options{TrainSize: 1, TestSize: count, Seed: env.Seed})
	if err != nil {
		return err
	}
	if err := digits("digits, Go fonts (generated digits)", generated.Test.All(), generated.Test.Labels); err != nil {
		return err
	}
	if env.Data == "" {
		return nil
	}
	mnist, err := dataset.Load(ctx, dataset.Options{Source: env.Data, TrainSize: 1})
	if err != nil {
		return err
	}
	return digits("MNIST, test pictures", mnist.Test.All(), mnist.Test.Labels)
}

// draw returns pictures that no training run has seen.
func draw(set *recipe.Set, count int, one func([]float64, *recipe.Set, uint64) int) (x [][]float64, labels []int) {
	for i := range count {
		picture := make([]float64, glyph.Side*glyph.Side)
		labels = append(labels, one(picture, set, measuredFrom+uint64(i)))
		x = append(x, picture)
	}
	return x, labels
}

// write puts the network's file at path.
func write(path string, n *features.Network) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := n.WriteTo(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
