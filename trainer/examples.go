package trainer

import (
	"errors"
	"slices"
)

// Examples computes the gradient of every single example of a batch with one
// run of the graph. The run yields the vectors that enter each dense layer and
// the derivatives of the loss by the vectors that leave it; the gradient of one
// example by the weights of the layer is the outer product of its two, and the
// gradient by the bias is the second (Goodfellow, Efficient Per-Example
// Gradient Computations, 2015, arXiv:1510.01799). A convolution is a
// dense layer over patches, whose outer products add up.
//
// Run must not be called while another goroutine uses the same Examples: give
// each goroutine that runs its own. Between two runs any number of goroutines
// may call Gradient and Shrunk at once.
//
// Memory is O(B·w + d), where w is the number of values that all layers compute
// for one example.
type Examples struct {
	m      *machine
	n      int // examples of the last run; 0 before it and after a failed one
	losses []float64
	layers []perExample
	// medians holds for each example the median of the derivatives by its
	// logits; sorted is the workspace for it.
	medians, sorted []float64
}

// errNoRun is returned when a gradient is asked for before there is one.
var errNoRun = errors.New("trainer: no examples: Run must have succeeded before")

func newExamples(m *machine) *Examples {
	e := &Examples{
		m:       m,
		losses:  make([]float64, m.batch),
		medians: make([]float64, m.batch),
		sorted:  make([]float64, m.net.classes),
	}
	for i, ends := range m.ends {
		e.layers = append(e.layers, perExample{
			weight: m.net.params[2*i],
			bias:   m.net.params[2*i+1],
			rows:   ends.input.Shape()[0] / m.batch,
		})
	}
	return e
}

// Run prepares the gradients of the given examples and returns their losses,
// cross-entropies in nats, which stay valid until the next Run. params, x and
// labels are as in Worker.Gradient, but there must be at most batch examples.
// When an argument is invalid the error names it; no gradients are available
// after an error. One run of the graph, whatever the number of examples.
func (e *Examples) Run(params []float64, x [][]float64, labels []int) (losses []float64, err error) {
	e.n = 0
	if err := e.m.load(params, x, labels); err != nil {
		return nil, err
	}
	if len(x) > e.m.batch {
		return nil, invalid("x", len(x), "must be at most %d examples", e.m.batch)
	}
	// With the weight 1 the derivatives are the derivatives of each example's own loss.
	if err := e.m.forEachBatch(x, labels, 1, e.keep); err != nil {
		return nil, err
	}
	return e.losses[:e.n], nil
}

// keep takes over the results of one run of the graph.
func (e *Examples) keep(logp []float64, labels []int) (err error) {
	for i := range e.layers {
		l, rows := &e.layers[i], e.m.batch*e.layers[i].rows
		outputs := l.bias.Size()
		if l.in, err = data(e.m.ends[i].input, rows*l.weight.Size()/outputs); err != nil {
			return err
		}
		if l.delta, err = data(e.m.gradient[i], rows*outputs); err != nil {
			return err
		}
	}
	classes, delta := e.m.net.classes, e.layers[len(e.layers)-1].delta
	for i, label := range labels {
		e.losses[i] = -logp[i*classes+label]
		copy(e.sorted, delta[i*classes:])
		slices.Sort(e.sorted)
		e.medians[i] = e.sorted[classes/2]
	}
	e.n = len(labels)
	return nil
}

// Gradient writes into dst, of length Dim of the model, the gradient by the
// parameters of the loss of example i of the last Run, in [0, number of its
// examples). It is what Worker.Gradient returns for that example alone, up to
// rounding. An error leaves dst as it is.
//
// O(Dim) for a model without convolutions; each convolution costs its number of
// parameters for each of its patches. Gradient does not allocate.
func (e *Examples) Gradient(dst []float64, i int) error {
	if err := e.check(dst, i); err != nil {
		return err
	}
	e.write(dst, i, 0)
	return nil
}

// Shrunk writes into dst a gradient like ShrinkL1's: shifted along
// directions that do not change the model, and of the smallest L1 norm that
// such shifts reach. Arguments, errors and cost are Gradient's.
//
// ShrinkL1 subtracts a median of its own from each row of the last layer. For
// one example the row of unit j is a_j·δ, with the unit's activation a_j and
// the derivatives δ by the logits, and its median is a_j times δ's median. So it
// is enough to subtract one number from δ, before the outer product. When the
// number of classes is even any number between the two middle elements of δ is
// a median; Shrunk takes the larger one. ShrinkL1 does so row by row. For
// negative a_j it takes the smaller one times a_j: there the two results differ,
// and have the same norm.
func (e *Examples) Shrunk(dst []float64, i int) error {
	if err := e.check(dst, i); err != nil {
		return err
	}
	e.write(dst, i, e.medians[i])
	return nil
}

func (e *Examples) check(dst []float64, i int) error {
	switch {
	case e.m.vm == nil:
		return errClosed
	case len(dst) != e.m.net.dim:
		return invalid("dst", len(dst), "must have %d elements", e.m.net.dim)
	case e.n == 0:
		return errNoRun
	case i < 0 || i >= e.n:
		return invalid("example", i, "must be in [0, %d)", e.n)
	}
	return nil
}

// write computes the gradient of example i with shift subtracted from the
// derivatives by its logits.
func (e *Examples) write(dst []float64, i int, shift float64) {
	last := len(e.layers) - 1
	for k := range last {
		e.layers[k].write(dst, i, 0)
	}
	e.layers[last].write(dst, i, shift)
}

// Close frees the graph. The examples cannot be used afterwards. Closing twice
// is allowed.
func (e *Examples) Close() error {
	e.layers = nil // they hold values of the graph
	return e.m.close()
}
