package trainer

import (
	"math"
	"math/rand/v2"
	"slices"

	G "gorgonia.org/gorgonia"
)

// Model is the immutable description of a classifier: NewModel and its siblings return
// one. It holds no parameters. Those are a flat []float64 of length Dim that the caller
// owns. A Model is safe for concurrent use.
type Model struct {
	input   Input
	classes int
	params  []Param
	sigma   []float64 // of Init, one per parameter
	dim     int
	width   int // the largest number of values of one layer for one example
	// logits builds the matrix of logits, batch × classes, from the matrix of
	// examples, batch × input.Size(), taking the parameters in order.
	logits func(l *layers, x *G.Node) *G.Node
}

// Param says where one parameter tensor lies in the flat vector: in the
// elements [Offset, Offset+Size), row-major, which means the last index of
// Shape runs fastest.
type Param struct {
	Name   string
	Shape  []int
	Offset int
}

// Size returns the number of elements, the product of Shape.
func (p Param) Size() int {
	n := 1
	for _, s := range p.Shape {
		n *= s
	}
	return n
}

// Input is the shape of one example. It is a flat vector of Size numbers in
// the order channel, row, column, the column running fastest.
type Input struct {
	Channels, Height, Width int // each at least 1
}

// Size returns the number of values of one example.
func (in Input) Size() int { return in.Channels * in.Height * in.Width }

// Dim returns d, the number of parameters.
func (m *Model) Dim() int { return m.dim }

// Layout returns where each parameter lies in the flat vector, in order of
// increasing offset and without gaps. The result is the caller's.
func (m *Model) Layout() []Param {
	out := slices.Clone(m.params)
	for i := range out {
		out[i].Shape = slices.Clone(out[i].Shape)
	}
	return out
}

// Init draws a start vector of length Dim from rng. Biases are zero. Weights are
// normal with variance 2/fan-in before a ReLU and 1/fan-in otherwise (He et al.
// 2015, arXiv:1502.01852, section 2.2). Softmax regression starts from zero.
// Equal generators give equal vectors.
func (m *Model) Init(rng *rand.Rand) []float64 {
	v := make([]float64, m.dim)
	for i, p := range m.params {
		if m.sigma[i] == 0 {
			continue
		}
		for j := range p.Size() {
			v[p.Offset+j] = m.sigma[i] * rng.NormFloat64()
		}
	}
	return v
}

// NewWorker builds the graph that computes gradients, batch examples at a
// time. The result does not depend on batch, only speed and memory do: 1
// suits clients that hold a single example. The error names batch when it
// is not positive or too large.
func (m *Model) NewWorker(batch int) (*Worker, error) {
	g, err := newMachine(m, batch, byParams)
	if err != nil {
		return nil, err
	}
	return &Worker{g}, nil
}

// NewEvaluator builds the forward half of that graph alone. Errors are NewWorker's.
func (m *Model) NewEvaluator(batch int) (*Evaluator, error) {
	g, err := newMachine(m, batch, byNothing)
	if err != nil {
		return nil, err
	}
	return &Evaluator{[]*machine{g}}, nil
}

// NewExamples builds the graph that computes the gradients of single
// examples, up to batch of them in one run: for clients with one example
// each that are simulated in one process. Errors are NewWorker's.
func (m *Model) NewExamples(batch int) (*Examples, error) {
	g, err := newMachine(m, batch, byOutputs)
	if err != nil {
		return nil, err
	}
	return newExamples(g), nil
}

// addLayer appends the weights and the bias of one layer. The last side of
// shape is the number of outputs, the product of the others is the fan-in; gain
// is 2 before a ReLU and 1 otherwise, or 0 to start from zero.
func (m *Model) addLayer(name string, gain float64, shape ...int) error {
	size, err := volume(name+".weight", shape...)
	if err != nil {
		return err
	}
	outputs := shape[len(shape)-1]
	if size+outputs > maxValues-m.dim {
		return invalid(name, size+outputs, "must leave at most %d parameters in all", maxValues)
	}
	m.params = append(m.params,
		Param{Name: name + ".weight", Shape: shape, Offset: m.dim},
		Param{Name: name + ".bias", Shape: []int{outputs}, Offset: m.dim + size})
	m.sigma = append(m.sigma, math.Sqrt(gain*float64(outputs)/float64(size)), 0)
	m.dim += size + outputs
	return nil
}

// widen makes room for tensors of one example with the given sides.
func (m *Model) widen(tensors [][]int) error {
	for _, sides := range tensors {
		v, err := volume("values of a layer", sides...)
		if err != nil {
			return err
		}
		m.width = max(m.width, v)
	}
	return nil
}
