package pretrain

import (
	"context"
	"os"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/pretrain/recipe"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/garment"
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

// measurement is what a trained network is measured with.
type measurement struct {
	*experiment.Result
	size    recipe.Size
	params  []float64 // all weights, also of classes that the network does not keep
	network *features.Network
	count   int // pictures of each kind
}

// all adds a row for pictures of all classes, by the weights that the network was made from.
func (m measurement) all(of recipe.Pictures, name string, trained bool, x [][]float64, labels []int) error {
	model, err := m.size.Model(of)
	if err != nil {
		return err
	}
	evaluator, err := model.NewEvaluator(100)
	if err != nil {
		return err
	}
	defer evaluator.Close()
	accuracy, _, err := evaluator.Evaluate(m.params, x, labels)
	classes, _ := of.Classes()
	m.Rows = append(m.Rows, experiment.Row{name, trained, len(labels), classes, accuracy})
	return err
}

// kept adds a row for pictures of the classes that the network keeps.
func (m measurement) kept(ctx context.Context, name string, trained bool, x [][]float64, labels []int) error {
	accuracy, _, err := features.ZeroShot(ctx, m.network, x, labels, nil)
	m.Rows = append(m.Rows, experiment.Row{name, trained, len(labels), m.network.Classes(), accuracy})
	return err
}

// cloth adds one row for each kind of drawn pictures.
func (m measurement) cloth(ctx context.Context, c recipe.Cloth) error {
	brush := garment.NewBrush()
	x, labels := drawn(m.count, func(dst []float64, i uint64) int { return c.Draw(brush, dst, i) })
	if err := m.all(c, "clothes, shoes, bags and cloth", true, x, labels); err != nil {
		return err
	}
	x, labels = drawn(m.count, func(dst []float64, i uint64) int { return c.DrawThing(brush, dst, i) })
	return m.kept(ctx, "clothes, shoes and bags", true, x, labels)
}

// characters adds one row for each kind of characters.
func (m measurement) characters(ctx context.Context, env experiment.Env, train, heldOut *recipe.Set) error {
	pencil := recipe.NewPencil()
	for _, kind := range []struct {
		name    string
		set     *recipe.Set
		trained bool
	}{{"characters, fonts of the training", train, true}, {"characters, fonts held out", heldOut, false}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, labels := draw(kind.set, m.count, pencil.Draw)
		if err := m.all(train, kind.name, kind.trained, x, labels); err != nil {
			return err
		}
	}
	x, labels := draw(heldOut, m.count, pencil.DrawDigit)
	if err := m.kept(ctx, "digits, fonts held out", false, x, labels); err != nil {
		return err
	}
	generated, err := dataset.Generate(ctx, dataset.Options{TrainSize: 1, TestSize: m.count, Seed: env.Seed})
	if err != nil {
		return err
	}
	if err := m.kept(ctx, "digits, Go fonts (generated digits)", false, generated.Test.All(), generated.Test.Labels); err != nil {
		return err
	}
	if env.Data == "" {
		return nil
	}
	mnist, err := dataset.Load(ctx, dataset.Options{Source: env.Data, TrainSize: 1})
	if err != nil {
		return err
	}
	return m.kept(ctx, "MNIST, test pictures", false, mnist.Test.All(), mnist.Test.Labels)
}

// draw returns pictures of a set that no training run has seen.
func draw(set *recipe.Set, count int, one func([]float64, *recipe.Set, uint64) int) (x [][]float64, labels []int) {
	return drawn(count, func(dst []float64, i uint64) int { return one(dst, set, i) })
}

// drawn returns pictures from an index on that no training run reaches.
func drawn(count int, one func(dst []float64, i uint64) int) (x [][]float64, labels []int) {
	for i := range count {
		picture := make([]float64, glyph.Side*glyph.Side)
		labels = append(labels, one(picture, measuredFrom+uint64(i)))
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
