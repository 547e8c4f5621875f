package trainer

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// perExample is one dense layer after a run of the graph.
type perExample struct {
	weight, bias Param
	rows         int // of each example: 1, or the number of its patches
	// in holds the rows that entered the layer, delta the derivatives of the
	// loss by those that left it: batch·rows rows of as many elements as the
	// layer has inputs and outputs.
	in, delta []float64
}

// write computes the layer's part of the gradient of example i, from
// derivatives that are all smaller by shift.
func (l *perExample) write(dst []float64, i int, shift float64) {
	weight := dst[l.weight.Offset : l.weight.Offset+l.weight.Size()]
	bias := dst[l.bias.Offset : l.bias.Offset+l.bias.Size()]
	inputs, outputs := len(weight)/len(bias), len(bias)
	in := l.in[i*l.rows*inputs : (i+1)*l.rows*inputs]
	delta := l.delta[i*l.rows*outputs : (i+1)*l.rows*outputs]
	if l.rows == 1 {
		copy(bias, delta)
		floats.AddConst(-shift, bias)
		setOuter(weight, in, bias)
		return
	}
	clear(bias)
	clear(weight)
	for ; len(in) > 0; in, delta = in[inputs:], delta[outputs:] {
		d := delta[:outputs]
		// Behind a max-pooling most patches have no derivative.
		if !slices.ContainsFunc(d, func(e float64) bool { return e != 0 }) {
			continue
		}
		floats.Add(bias, d)
		addOuter(weight, in[:inputs], d)
	}
}

// narrow is the width below which multiplying by zeros costs less than stepping
// over them: one call per row of w takes as long as a dozen multiplications.
const narrow = 16

// setOuter sets w, row-major, to the outer product of x and y. Many elements of
// x are zero, black pixels and units at rest; wide rows of w skip them.
func setOuter(w, x, y []float64) {
	clear(w)
	if len(y) < narrow {
		addOuter(w, x, y)
		return
	}
	for j, a := range x {
		if a != 0 {
			floats.ScaleTo(w[j*len(y):(j+1)*len(y)], a, y)
		}
	}
}

// addOuter adds the outer product of x and y to w.
func addOuter(w, x, y []float64) {
	blas64.Ger(1, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y},
		blas64.General{Rows: len(x), Cols: len(y), Stride: len(y), Data: w})
}
