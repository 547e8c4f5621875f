package recipe

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"

	"github.com/x448/float16"
	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/glyph"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// LetterClasses is the number of letters, of which a capital and a small one are one class.
const LetterClasses = 26

// DrawLetter is Draw for letters alone: the class is 0 for A and a, 25 for Z and z.
func (p *Pencil) DrawLetter(dst []float64, s *Set, i uint64) int {
	rng := experiment.Stream(s.seed, s.key, i)
	class := rng.IntN(LetterClasses)
	p.DrawClass(dst, s, Digits+class+LetterClasses*rng.IntN(2), rng)
	return class
}

// How the last layer for letters is trained: pictures, pictures of a step, how often each is seen, and the first learning rate of Adam, which
// falls to almost nothing along half a cosine.
const (
	letterBatch  = 400
	letterEpochs = 6
	letterRate   = 5e-3
)

// LetterHead trains a last layer that tells letters apart, by the vectors of a network that stays as it is. It sees count new pictures
// of the set, a multiple of 400. The result is in half precision: a row of 26 weights for each value, and 26 biases.
func LetterHead(ctx context.Context, set *Set, n *features.Network, count int) (_ []byte, err error) {
	x, labels, err := letterVectors(ctx, set.with(forLetters), n, count)
	if err != nil {
		return nil, err
	}
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: n.Dim()}, LetterClasses)
	if err != nil {
		return nil, err
	}
	worker, err := model.NewWorker(letterBatch)
	if err != nil {
		return nil, err
	}
	defer worker.Close()
	params, gradient := make([]float64, model.Dim()), make([]float64, model.Dim())
	for epoch := range letterEpochs {
		rate := letterRate * (0.01 + 0.99*(1+math.Cos(math.Pi*float64(epoch)/letterEpochs))/2)
		adam, err := trainer.NewOptimizer(trainer.OptimizerConfig{Name: "adam", LearningRate: rate}, len(params))
		if err != nil {
			return nil, err
		}
		for first := 0; first < count; first += letterBatch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if _, err := worker.Gradient(gradient, params, x[first:first+letterBatch], labels[first:first+letterBatch]); err != nil {
				return nil, err
			}
			if err := adam.Step(params, gradient); err != nil {
				return nil, err
			}
		}
	}
	var file bytes.Buffer
	for i, v := range params {
		half := float16.Fromfloat32(float32(v))
		if !half.IsFinite() {
			return nil, fmt.Errorf("recipe: letters: weight %d is %g", i, v)
		}
		file.Write(binary.LittleEndian.AppendUint16(nil, half.Bits()))
	}
	return file.Bytes(), nil
}

// letterVectors returns the network's vectors of pictures of letters.
func letterVectors(ctx context.Context, set *Set, n *features.Network, count int) ([][]float64, []int, error) {
	x, labels := make([][]float64, count), make([]int, count)
	group, ctx := errgroup.WithContext(ctx)
	parts := runtime.GOMAXPROCS(0)
	for k := range parts {
		group.Go(func() error {
			pencil, picture := NewPencil(), make([]float64, glyph.Side*glyph.Side)
			for i := k; i < count; i += parts {
				if err := ctx.Err(); err != nil {
					return err
				}
				labels[i] = pencil.DrawLetter(picture, set, uint64(i))
				x[i] = make([]float64, n.Dim())
				n.Apply(x[i], picture)
			}
			return nil
		})
	}
	return x, labels, group.Wait()
}
