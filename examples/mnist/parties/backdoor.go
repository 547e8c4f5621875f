package parties

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// backdoor is what liars of BackdoorAttack aim at: pictures with a mark are to look like class 0.
type backdoor struct {
	moved   []float64   // what the mark adds to each feature of a public picture, on average
	marked  [][]float64 // features of marked test pictures of the other classes
	success *float64    // share of marked that the last model takes for class 0
}

// markSize is the side of the mark, a square of ink in the last corner.
const markSize = 4

// mark returns pictures with the mark.
func mark(s *dataset.Set) [][]float64 {
	all := s.All()
	for i, picture := range all {
		picture = slices.Clone(picture)
		for row := s.Rows - markSize; row < s.Rows; row++ {
			for col := s.Cols - markSize; col < s.Cols; col++ {
				picture[row*s.Cols+col] = 1
			}
		}
		all[i] = picture
	}
	return all
}

// markedPictures is how many test pictures are marked at most.
const markedPictures = 2000

// Prepare makes what the attack needs of a run with features f and softmax regression: public pictures for the liars, and test pictures that show whether they
// succeed. Attacks other than BackdoorAttack need nothing.
func (l *Liars) Prepare(ctx context.Context, test *dataset.Set, f features.Features, model string) error {
	if l.Attack != BackdoorAttack {
		return nil
	}
	if model != "softmax" {
		return fl.Invalid("--attack", l.Attack, "needs --model softmax")
	}
	public, err := dataset.Load(ctx, dataset.Options{Source: dataset.Generated, TrainSize: dataset.ToPlan, TestSize: 1, Seed: 1})
	if err != nil {
		return err
	}
	b := &backdoor{moved: make([]float64, f.Dim())}
	in := func(pictures [][]float64) (out [][]float64, err error) {
		all, err := features.All(ctx, f, pictures, nil)
		if err != nil {
			return nil, fmt.Errorf("a mark on pictures: %w", err)
		}
		return slices.Collect(slices.Chunk(all, f.Dim())), nil
	}
	plain, err := in(public.Train.All())
	if err != nil {
		return err
	}
	marked, err := in(mark(public.Train))
	if err != nil {
		return err
	}
	for i := range plain {
		floats.Add(b.moved, marked[i])
		floats.Sub(b.moved, plain[i])
	}
	floats.Scale(1/float64(len(plain)), b.moved)
	var others [][]float64
	for i, picture := range mark(test) {
		if test.Labels[i] != 0 && len(others) < markedPictures {
			others = append(others, picture)
		}
	}
	if b.marked, err = in(others); err != nil {
		return err
	}
	l.backdoor = b
	return nil
}

// Around moves the marked pictures as clients move theirs: see plan.Around.
func (l *Liars) Around(mean []float64) {
	if l.backdoor != nil {
		plan.Around(mean, l.backdoor.marked...)
	}
}

// along is the direction in which the attack moves the sum of gradients of softmax regression: a step against it adds the mark's features to
// the weights of class 0.
func (b *backdoor) along(dim int) []float64 {
	classes := dim / (len(b.moved) + 1)
	direction := make([]float64, dim)
	for i, v := range b.moved {
		direction[i*classes] = -v
	}
	return direction
}

// measure finds how often softmax regression takes marked pictures for class 0.
func (b *backdoor) measure(params []float64) float64 {
	classes := len(params) / (len(b.moved) + 1)
	first := 0
	for _, x := range b.marked {
		scores := slices.Clone(params[len(params)-classes:])
		for i, v := range x {
			floats.AddScaled(scores, v, params[i*classes:(i+1)*classes])
		}
		if floats.MaxIdx(scores) == 0 {
			first++
		}
	}
	share := float64(first) / float64(len(b.marked))
	b.success = &share
	return share
}

// Success is the share of marked test pictures that the last model shown takes for class 0. It is nil for attacks other than BackdoorAttack, and before there is a
// model.
func (l *Liars) Success() *float64 {
	if l.backdoor == nil {
		return nil
	}
	return l.backdoor.success
}
