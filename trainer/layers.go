package trainer

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// layers builds a graph layer by layer. After the first error every method
// returns nil and err stays what it was.
type layers struct {
	graph  *G.ExprGraph
	batch  int
	params []*G.Node // those not used yet: weight, bias, weight, bias, ...
	ends   []ends    // of the dense layers so far
	err    error
}

// ends are the nodes where values enter and leave a dense layer: matrices with
// the same number of rows, a multiple of the batch size. The rows of one
// example are consecutive.
type ends struct {
	input, output *G.Node
}

// apply keeps the first error.
func (l *layers) apply(build func() (*G.Node, error)) *G.Node {
	if l.err != nil {
		return nil
	}
	n, err := build()
	if err != nil {
		l.err = fmt.Errorf("trainer: graph: %w", err)
		return nil
	}
	return n
}

func (l *layers) reshape(x *G.Node, shape ...int) *G.Node {
	return l.apply(func() (*G.Node, error) { return G.Reshape(x, shape) })
}

// dense returns x·W + 1·b for a matrix x, with the next weight W and bias b.
// The bias is added as the product of a column of ones and the row b: its
// derivative is then one more matrix product, where Gorgonia's broadcasting
// would copy b along the batch and reduce it again.
func (l *layers) dense(x *G.Node) *G.Node {
	if l.err != nil {
		return nil
	}
	w, b := l.params[0], l.params[1]
	l.params = l.params[2:]
	rows := x.Shape()[0]
	ones := inputNode(l.graph, "ones for "+b.Name(), slices.Repeat([]float64{1}, rows), rows, 1)
	xw := l.apply(func() (*G.Node, error) { return G.Mul(x, w) })
	ob := l.apply(func() (*G.Node, error) { return G.Mul(ones, b) })
	y := l.apply(func() (*G.Node, error) { return G.Add(xw, ob) })
	l.ends = append(l.ends, ends{x, y})
	return y
}

func (l *layers) relu(x *G.Node) *G.Node {
	return l.apply(func() (*G.Node, error) { return G.Rectify(x) })
}

// conv is a convolution of a batch of images (batch, channel, row, column) with pad
// zeros around each: a dense layer over all patches of side×side pixels.
func (l *layers) conv(x *G.Node, side, stride, pad int) *G.Node {
	columns := l.apply(func() (*G.Node, error) {
		return G.Im2Col(x, tensor.Shape{side, side}, tensor.Shape{pad, pad}, tensor.Shape{stride, stride}, tensor.Shape{1, 1})
	})
	if l.err != nil {
		return nil
	}
	s := columns.Shape() // batch, rows, columns, channels·side²
	y := l.dense(l.reshape(columns, s[0]*s[1]*s[2], s[3]))
	if l.err != nil {
		return nil
	}
	y = l.reshape(y, s[0], s[1], s[2], y.Shape()[1])
	return l.apply(func() (*G.Node, error) { return G.Transpose(y, 0, 3, 1, 2) })
}

// maxPool keeps the largest value of each 2×2 square, dropping an odd last row
// or column.
func (l *layers) maxPool(x *G.Node) *G.Node {
	return l.apply(func() (*G.Node, error) {
		return G.MaxPool2D(x, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})
	})
}

// flatten makes one row of each image.
func (l *layers) flatten(x *G.Node) *G.Node {
	if l.err != nil {
		return nil
	}
	return l.reshape(x, l.batch, x.Shape().TotalSize()/l.batch)
}
