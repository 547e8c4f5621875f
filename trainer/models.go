package trainer

import (
	"maps"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
)

// Sizes of the models that NewModel builds. For 28×28 pixels and ten classes
// they give 7850, 25450 and 5386 parameters.
const (
	defaultHidden   = 32
	defaultChannels = 8
)

var models = map[string]func(Input, int) (*Model, error){
	"softmax": NewSoftmax,
	"mlp":     func(in Input, classes int) (*Model, error) { return NewMLP(in, classes, defaultHidden) },
	"cnn": func(in Input, classes int) (*Model, error) {
		return NewCNN(in, classes, defaultChannels, 2*defaultChannels)
	},
}

// ModelNames returns the names that NewModel knows, sorted.
func ModelNames() []string { return slices.Sorted(maps.Keys(models)) }

// NewModel returns the model of that name for that input and number of
// classes, with default sizes: "softmax" is NewSoftmax, "mlp" is NewMLP with
// 32 hidden units, "cnn" is NewCNN with 8 and 16 channels. The error for an
// unknown name lists the known ones.
func NewModel(name string, in Input, classes int) (*Model, error) {
	build, ok := models[name]
	if !ok {
		return nil, invalid("model", name, "must be one of %s", strings.Join(ModelNames(), ", "))
	}
	return build(in, classes)
}

// newModel returns a model without layers. Every side must be positive, their product in
// range, and there must be at least two classes.
func newModel(in Input, classes int) (*Model, error) {
	if in.Channels < 1 || in.Height < 1 || in.Width < 1 {
		return nil, invalid("input", in, "must have every side at least 1")
	}
	if classes < 2 || classes > maxValues {
		return nil, invalid("classes", classes, "must be in [2, %d]", maxValues)
	}
	if _, err := volume("input", in.Channels, in.Height, in.Width); err != nil {
		return nil, err
	}
	return &Model{input: in, classes: classes}, nil
}

// NewSoftmax returns softmax (multinomial logistic) regression: one linear
// layer from the pixels to the classes. Layout:
//
//	linear.weight (in.Size(), classes)
//	linear.bias   (classes)
//
// The loss is convex in the parameters, and Init starts from zero: random
// weights would only be noise to unlearn. O(B·d) per batch.
func NewSoftmax(in Input, classes int) (*Model, error) {
	m, err := newModel(in, classes)
	if err != nil {
		return nil, err
	}
	if err := m.addLayer("linear", 0, in.Size(), classes); err != nil {
		return nil, err
	}
	m.width = max(in.Size(), classes)
	m.logits = func(l *layers, x *G.Node) *G.Node { return l.dense(x) }
	return m, nil
}

// NewMLP returns a perceptron with one hidden layer of ReLU units. Layout:
//
//	hidden.weight (in.Size(), hidden)
//	hidden.bias   (hidden)
//	output.weight (hidden, classes)
//	output.bias   (classes)
//
// The error names hidden when it is not positive. O(B·d) per batch.
func NewMLP(in Input, classes, hidden int) (*Model, error) {
	m, err := newModel(in, classes)
	if err != nil {
		return nil, err
	}
	if hidden < 1 {
		return nil, invalid("hidden", hidden, "must be at least 1")
	}
	if err := m.addLayer("hidden", 2, in.Size(), hidden); err != nil {
		return nil, err
	}
	if err := m.addLayer("output", 1, hidden, classes); err != nil {
		return nil, err
	}
	m.width = max(in.Size(), hidden, classes)
	m.logits = func(l *layers, x *G.Node) *G.Node { return l.dense(l.relu(l.dense(x))) }
	return m, nil
}

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
func NewCNN(in Input, classes, first, second int) (*Model, error) {
	m, err := newModel(in, classes)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Height < 10 || in.Width < 10:
		return nil, invalid("input", in, "must be at least 10 pixels high and wide")
	case first < 1:
		return nil, invalid("first", first, "must be at least 1 channel")
	case second < 1:
		return nil, invalid("second", second, "must be at least 1 channel")
	}
	h1, w1 := in.Height-4, in.Width-4
	h2, w2 := (h1/2-3)/2+1, (w1/2-3)/2+1
	if err := m.addLayer("conv1", 2, in.Channels, 5, 5, first); err != nil {
		return nil, err
	}
	if err := m.addLayer("conv2", 2, first, 3, 3, second); err != nil {
		return nil, err
	}
	features, err := volume("output.weight", second, h2, w2)
	if err != nil {
		return nil, err
	}
	if err := m.addLayer("output", 1, features, classes); err != nil {
		return nil, err
	}
	// The widest tensors of one example: patches and outputs of both
	// convolutions. The tensors of the rest are smaller.
	if err := m.widen([][]int{
		{h1, w1, in.Channels, 25}, {h1, w1, first}, {h2, w2, first, 9}, {h2, w2, second}, {classes},
	}); err != nil {
		return nil, err
	}
	m.logits = func(l *layers, x *G.Node) *G.Node {
		x = l.reshape(x, l.batch, in.Channels, in.Height, in.Width)
		x = l.maxPool(l.relu(l.conv(x, 5, 1, 0)))
		x = l.relu(l.conv(x, 3, 2, 0))
		return l.dense(l.flatten(x))
	}
	return m, nil
}
