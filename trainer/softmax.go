package trainer

import G "gorgonia.org/gorgonia"

// NewSoftmax returns softmax (multinomial logistic) regression: one linear
// layer from the pixels to the classes. Layout:
//
//	linear.weight (in.Size(), classes)
//	linear.bias   (classes)
//
// The loss is convex in the parameters, and Init starts from zero: random
// weights would only be noise to unlearn. O(B·d) per batch.
func NewSoftmax(in Input, classes int) (Model, error) {
	if err := in.check(classes); err != nil {
		return nil, err
	}
	n := &network{
		input:   in,
		classes: classes,
		width:   max(in.Size(), classes),
		logits:  func(l *layers, x *G.Node) *G.Node { return l.dense(x) },
	}
	if err := n.addLayer("linear", 0, in.Size(), classes); err != nil {
		return nil, err
	}
	return n, nil
}
