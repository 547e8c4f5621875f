package training

import (
	"errors"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer"
)

// task is a data set, one picture per client, and softmax regression on it.
type task struct {
	train, test *dataset.Set
	model       trainer.Model
}

// features are a fixed function of one picture.
type features func(*dataset.Set) (*dataset.Set, error)

// pooled are the grey values of 2×2 blocks.
func pooled(s *dataset.Set) (*dataset.Set, error) { return s.Pool(2) }

// edges are unit vectors of oriented edges in 4×4 blocks.
func edges(s *dataset.Set) (*dataset.Set, error) {
	e, err := s.Edges(4)
	if err != nil {
		return nil, err
	}
	return e.Unit(), nil
}

func newTask(data *dataset.Data, of features) (*task, error) {
	t := &task{}
	var err error
	if t.train, err = of(data.Train); err != nil {
		return nil, err
	}
	if t.test, err = of(data.Test); err != nil {
		return nil, err
	}
	in := trainer.Input{Channels: max(1, t.train.Channels), Height: t.train.Rows, Width: t.train.Cols}
	t.model, err = trainer.NewModel("softmax", in, t.train.Classes)
	return t, err
}

// heldOut replaces the test pictures by the last sixth of the training ones, which are
// trained on no more: for choosing constants without looking at the test pictures.
func heldOut(data *dataset.Data) *dataset.Data {
	n := data.Train.Len() / 6 * 5
	part := func(from, to int) *dataset.Set {
		s, d := *data.Train, data.Train.Dim()
		s.Images, s.Labels = s.Images[from*d:to*d], s.Labels[from:to]
		return &s
	}
	out := *data
	out.Train, out.Test = part(0, n), part(n, data.Train.Len())
	return &out
}

// images are pictures number from up to but without to.
func images(s *dataset.Set, from, to int) [][]float64 {
	out := make([][]float64, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, s.Image(i))
	}
	return out
}

func (t *task) accuracy(params []float64) (accuracy float64, err error) {
	evaluator, err := t.model.NewEvaluator(min(500, t.test.Len()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, evaluator.Close()) }()
	accuracy, _, err = evaluator.Evaluate(params, images(t.test, 0, t.test.Len()), t.test.Labels)
	return accuracy, err
}
