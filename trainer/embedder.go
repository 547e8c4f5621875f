package trainer

import G "gorgonia.org/gorgonia"

// Sides of the convolutions of an embedder, the stride of the first one, and the zeros
// around its input.
const (
	embedderFirst  = 5
	embedderStride = 2
	embedderPad    = 2
	embedderSide   = 3
)

// NewEmbedder returns a convolutional network whose last layer but one is a short vector
// for each example: an embedding, on which a linear model can learn other classes. It is a
// 5×5 convolution of stride 2 over the input with two zeros on each side, ReLU, a 3×3
// convolution, ReLU, 2×2 max-pooling, a 3×3 convolution, ReLU, a linear layer to width
// values, the embedding, and a linear layer from them to the classes. Layout:
//
//	conv1.weight  (in.Channels, 5, 5, channels[0])
//	conv1.bias    (channels[0])
//	conv2.weight  (channels[0], 3, 3, channels[1])
//	conv2.bias    (channels[1])
//	conv3.weight  (channels[1], 3, 3, channels[2])
//	conv3.bias    (channels[2])
//	embed.weight  (channels[2]·h·w, width), the rows in the order channel, row, column
//	embed.bias    (width)
//	output.weight (width, classes)
//	output.bias   (classes)
//
// where h = ((in.Height-1)/2-1)/2 - 2 with the divisions rounded down, and w likewise: 4
// for 28 pixels. The error names the input when a side is below 15, and channels or width
// when a size is not positive.
//
// There is no ReLU behind the embedding. With one, a third of the units came to rest for good
// in training, and a linear model on the others did worse.
func NewEmbedder(in Input, classes int, channels [3]int, width int) (*Model, error) {
	m, err := newModel(in, classes)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Height < 15 || in.Width < 15:
		return nil, invalid("input", in, "must be at least 15 pixels high and wide")
	case min(channels[0], channels[1], channels[2]) < 1:
		return nil, invalid("channels", channels, "must be at least 1 each")
	case width < 1:
		return nil, invalid("width", width, "must be at least 1")
	}
	h1, w1 := (in.Height-1)/2+1, (in.Width-1)/2+1
	h2, w2 := h1-2, w1-2
	h3, w3 := h2/2-2, w2/2-2
	flat, err := volume("embed.weight", channels[2], h3, w3)
	if err != nil {
		return nil, err
	}
	for _, layer := range []struct {
		name  string
		gain  float64
		shape []int
	}{
		{"conv1", 2, []int{in.Channels, embedderFirst, embedderFirst, channels[0]}},
		{"conv2", 2, []int{channels[0], embedderSide, embedderSide, channels[1]}},
		{"conv3", 2, []int{channels[1], embedderSide, embedderSide, channels[2]}},
		{"embed", 1, []int{flat, width}},
		{"output", 1, []int{width, classes}},
	} {
		if err := m.addLayer(layer.name, layer.gain, layer.shape...); err != nil {
			return nil, err
		}
	}
	// The widest tensors of one example: patches and outputs of the convolutions.
	if err := m.widen([][]int{
		{h1, w1, in.Channels, embedderFirst * embedderFirst}, {h1, w1, channels[0]},
		{h2, w2, channels[0], embedderSide * embedderSide}, {h2, w2, channels[1]},
		{h3, w3, channels[1], embedderSide * embedderSide}, {flat}, {width}, {classes},
	}); err != nil {
		return nil, err
	}
	m.logits = func(l *layers, x *G.Node) *G.Node {
		x = l.reshape(x, l.batch, in.Channels, in.Height, in.Width)
		x = l.relu(l.conv(x, embedderFirst, embedderStride, embedderPad))
		x = l.maxPool(l.relu(l.conv(x, embedderSide, 1, 0)))
		x = l.relu(l.conv(x, embedderSide, 1, 0))
		return l.dense(l.dense(l.flatten(x)))
	}
	return m, nil
}
