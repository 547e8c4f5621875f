package trainer

import "slices"

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
func ShrinkL1(m Model, grad []float64) error {
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
		median := sorted[classes/2]
		for k := range classes {
			row[k] -= median
		}
	}
	return nil
}
