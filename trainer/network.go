package trainer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	G "gorgonia.org/gorgonia"
)

// network is the one implementation of Model. What tells models apart is the
// list of their parameters and the function that builds logits.
type network struct {
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

var _ Model = (*network)(nil)

func (n *network) Dim() int { return n.dim }

func (n *network) Layout() []Param {
	out := slices.Clone(n.params)
	for i := range out {
		out[i].Shape = slices.Clone(out[i].Shape)
	}
	return out
}

func (n *network) Init(rng *rand.Rand) []float64 {
	v := make([]float64, n.dim)
	for i, p := range n.params {
		if n.sigma[i] == 0 {
			continue
		}
		for j := range p.Size() {
			v[p.Offset+j] = n.sigma[i] * rng.NormFloat64()
		}
	}
	return v
}

// addLayer appends the weights and the bias of one layer. The last side of
// shape is the number of outputs, the product of the others is the fan-in; gain
// is 2 before a ReLU and 1 otherwise, or 0 to start from zero.
func (n *network) addLayer(name string, gain float64, shape ...int) error {
	size, err := volume(name+".weight", shape...)
	if err != nil {
		return err
	}
	outputs := shape[len(shape)-1]
	if size+outputs > maxValues-n.dim {
		return fmt.Errorf("trainer: %s: got %d more parameters, must be at most %d in all", name, size+outputs, maxValues)
	}
	n.params = append(n.params,
		Param{Name: name + ".weight", Shape: shape, Offset: n.dim},
		Param{Name: name + ".bias", Shape: []int{outputs}, Offset: n.dim + size})
	n.sigma = append(n.sigma, math.Sqrt(gain*float64(outputs)/float64(size)), 0)
	n.dim += size + outputs
	return nil
}

func (n *network) NewWorker(batch int) (*Worker, error) {
	m, err := newMachine(n, batch, byParams)
	if err != nil {
		return nil, err
	}
	return &Worker{m}, nil
}

func (n *network) NewEvaluator(batch int) (*Evaluator, error) {
	m, err := newMachine(n, batch, byNothing)
	if err != nil {
		return nil, err
	}
	return &Evaluator{m}, nil
}

func (n *network) NewExamples(batch int) (*Examples, error) {
	m, err := newMachine(n, batch, byOutputs)
	if err != nil {
		return nil, err
	}
	return newExamples(m), nil
}
