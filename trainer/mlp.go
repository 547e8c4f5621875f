package trainer

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// NewMLP returns a perceptron with one hidden layer of ReLU units. Layout:
//
//	hidden.weight (in.Size(), hidden)
//	hidden.bias   (hidden)
//	output.weight (hidden, classes)
//	output.bias   (classes)
//
// The error names hidden when it is not positive. O(B·d) per batch.
func NewMLP(in Input, classes, hidden int) (Model, error) {
	if err := in.check(classes); err != nil {
		return nil, err
	}
	if hidden < 1 {
		return nil, fmt.Errorf("trainer: hidden: got %d, must be at least 1", hidden)
	}
	n := &network{
		input:   in,
		classes: classes,
		width:   max(in.Size(), hidden, classes),
		logits:  func(l *layers, x *G.Node) *G.Node { return l.dense(l.relu(l.dense(x))) },
	}
	if err := n.addLayer("hidden", 2, in.Size(), hidden); err != nil {
		return nil, err
	}
	if err := n.addLayer("output", 1, hidden, classes); err != nil {
		return nil, err
	}
	return n, nil
}
