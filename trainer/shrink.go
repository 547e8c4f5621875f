package trainer

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// ShrinkL1 replaces a gradient of m, in place, by an equivalent one of the
// smallest L1 norm. A softmax does not change when the same number is added to
// the logits of all classes, so neither does the model when the same number is
// added to all weights from one unit of the last layer's input, or to all its
// biases. A gradient may be shifted along these directions at will: a step with
// plain or momentum SGD leads to the same predictions. The shift that makes a row
// of the gradient shortest is its median over the classes.
//
// At the start of training this takes away nearly half of the norm, which an L1
// clip and a sparse mechanism would otherwise spend on what all classes share.
// grad has length Dim of m. O(Dim).
func ShrinkL1(m *Model, grad []float64) error {
	if err := checkVector("gradient", grad, m.Dim()); err != nil {
		return err
	}
	layout := m.Layout()
	output := layout[len(layout)-2:] // weight and bias of the last layer
	classes := output[1].Size()
	sorted := make([]float64, classes)
	for row := grad[output[0].Offset:]; len(row) > 0; row = row[classes:] {
		copy(sorted, row)
		slices.Sort(sorted)
		floats.AddConst(-sorted[classes/2], row[:classes])
	}
	return nil
}

// GradientNorms returns the mean L1 and L2 norms of the gradients at params of single
// examples, shifted as by ShrinkL1. The norms of public examples like the clients' examples
// show where to clip. Arguments and errors are Worker.Gradient's.
func GradientNorms(m *Model, params []float64, x [][]float64, labels []int) (l1, l2 float64, err error) {
	gradients, err := GradientSample(m, params, x, labels)
	n := float64(len(x))
	for _, grad := range gradients {
		l1 += floats.Norm(grad, 1) / n
		l2 += floats.Norm(grad, 2) / n
	}
	return l1, l2, err
}

// GradientSample returns the gradients at params of single examples, shifted as by ShrinkL1. The gradients of public
// examples like the clients' examples show where to clip: see plan.NewSample. Arguments and errors are
// Worker.Gradient's. Memory O(d) for each example.
func GradientSample(m *Model, params []float64, x [][]float64, labels []int) (gradients [][]float64, err error) {
	examples, err := m.NewExamples(max(1, len(x)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, examples.Close()) }()
	if _, err := examples.Run(params, x, labels); err != nil {
		return nil, err
	}
	for i := range x {
		grad := make([]float64, m.Dim())
		if err := examples.Shrunk(grad, i); err != nil {
			return nil, err
		}
		gradients = append(gradients, grad)
	}
	return gradients, nil
}
