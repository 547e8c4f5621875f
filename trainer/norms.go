package trainer

import (
	"errors"

	"gonum.org/v1/gonum/floats"
)

// GradientNorms returns the mean L1 and L2 norms of the gradients at params of single
// examples, shifted as by ShrinkL1. From public examples like those of the clients they
// tell where to clip. Arguments and errors are those of Worker.Gradient.
func GradientNorms(m Model, params []float64, x [][]float64, labels []int) (l1, l2 float64, err error) {
	examples, err := m.NewExamples(max(1, len(x)))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, examples.Close()) }()
	if _, err := examples.Run(params, x, labels); err != nil {
		return 0, 0, err
	}
	grad := make([]float64, m.Dim())
	n := float64(len(x))
	for i := range x {
		if err := examples.Shrunk(grad, i); err != nil {
			return 0, 0, err
		}
		l1 += floats.Norm(grad, 1) / n
		l2 += floats.Norm(grad, 2) / n
	}
	return l1, l2, nil
}
