package trainer

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// NewCNN returns a small convolutional network: a 5×5 convolution with first
// output channels, ReLU, 2×2 max-pooling, a 3×3 convolution of stride 2 with
// second output channels, ReLU, and a linear layer. No convolution pads its
// input. Layout:
//
//	conv1.weight  (in.Channels, 5, 5, first)
//	conv1.bias    (first)
//	conv2.weight  (first, 3, 3, second)
//	conv2.bias    (second)
//	output.weight (second·h·w, classes), the rows in the order channel, row, column
//	output.bias   (classes)
//
// where h = ((in.Height-4)/2-3)/2 + 1 with the divisions rounded down, and w
// likewise. The error names the input when a side is below 10, and first or
// second when it is not positive. O(B·in.Height·in.Width·first·(25·in.Channels
// + second)) per batch.
func NewCNN(in Input, classes, first, second int) (Model, error) {
	if err := in.check(classes); err != nil {
		return nil, err
	}
	if in.Height < 10 || in.Width < 10 {
		return nil, fmt.Errorf("trainer: input: got %+v, must be at least 10 pixels high and wide", in)
	}
	if first < 1 || second < 1 {
		return nil, fmt.Errorf("trainer: channels: got %d and %d, must both be at least 1", first, second)
	}
	h1, w1 := in.Height-4, in.Width-4
	h2, w2 := (h1/2-3)/2+1, (w1/2-3)/2+1

	n := &network{input: in, classes: classes}
	if err := n.addLayer("conv1", 2, in.Channels, 5, 5, first); err != nil {
		return nil, err
	}
	if err := n.addLayer("conv2", 2, first, 3, 3, second); err != nil {
		return nil, err
	}
	features, err := volume("output.weight", second, h2, w2)
	if err != nil {
		return nil, err
	}
	if err := n.addLayer("output", 1, features, classes); err != nil {
		return nil, err
	}
	// The widest tensors of one example: patches and outputs of both
	// convolutions. Those of the rest are smaller.
	for _, sides := range [][]int{
		{h1, w1, in.Channels, 25}, {h1, w1, first}, {h2, w2, first, 9}, {h2, w2, second}, {classes},
	} {
		v, err := volume("values of a layer", sides...)
		if err != nil {
			return nil, err
		}
		n.width = max(n.width, v)
	}
	n.logits = func(l *layers, x *G.Node) *G.Node {
		x = l.reshape(x, l.batch, in.Channels, in.Height, in.Width)
		x = l.maxPool(l.relu(l.conv(x, 5, 1)))
		x = l.relu(l.conv(x, 3, 2))
		return l.dense(l.flatten(x))
	}
	return n, nil
}
