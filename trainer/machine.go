package trainer

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// machine is a compiled graph for a fixed number of examples. Its inputs are
// plain slices: write them, call run, read the results.
type machine struct {
	net   *Model
	batch int

	params []float64 // length net.dim
	x      []float64 // batch × input size
	// seed is the derivative of the loss by the log-probabilities, batch ×
	// classes; nil when the machine computes no gradients.
	seed []float64

	vm       G.VM // nil once closed
	logp     *G.Node
	ends     []ends    // of the dense layers, in the order of their parameters
	gradient []*G.Node // one per tensor that the loss is differentiated by
}

// derivative says what a machine differentiates the loss by.
type derivative int

const (
	byNothing derivative = iota
	byParams             // every parameter tensor
	byOutputs            // the output of every dense layer
)

// building guards the construction of graphs, during which Gorgonia stores the
// hashes of its shared constants in them.
var building sync.Mutex

// newMachine builds, differentiates and compiles the graph of net, which is
// some fifty nodes whatever the sizes. O(d + batch·net.width).
func newMachine(net *Model, batch int, by derivative) (m *machine, err error) {
	if batch < 1 || batch > maxValues/net.width {
		return nil, invalid("batch", batch, "must be in [1, %d]", maxValues/net.width)
	}
	building.Lock()
	defer building.Unlock()
	defer func() { // Gorgonia reports some failed constructions by a panic
		if p := recover(); p != nil {
			m, err = nil, fmt.Errorf("trainer: graph: %v", p)
		}
	}()

	m = &machine{
		net:    net,
		batch:  batch,
		params: make([]float64, net.dim),
		x:      make([]float64, batch*net.input.Size()),
	}
	g := G.NewGraph()
	var params G.Nodes
	for _, p := range net.params {
		columns := p.Shape[len(p.Shape)-1]
		params = append(params, inputNode(g, p.Name, m.params[p.Offset:p.Offset+p.Size()], p.Size()/columns, columns))
	}
	l := &layers{graph: g, batch: batch, params: params}
	logits := net.logits(l, inputNode(g, "x", m.x, batch, net.input.Size()))
	// A last axis of length one keeps LogSoftMax away from the code path for
	// the last axis; see the package documentation.
	logits = l.reshape(logits, batch, net.classes, 1)
	m.logp = l.apply(func() (*G.Node, error) { return G.LogSoftMax(logits, 1) })
	if l.err != nil {
		return nil, l.err
	}
	m.ends = l.ends
	var wrt G.Nodes
	switch by {
	case byParams:
		wrt = params
	case byOutputs:
		for _, e := range m.ends {
			wrt = append(wrt, e.output)
		}
	}
	if len(wrt) > 0 {
		m.seed = make([]float64, batch*net.classes)
		seed := inputNode(g, "seed", m.seed, batch, net.classes, 1)
		if m.gradient, err = G.Backpropagate(G.Nodes{m.logp}, G.Nodes{seed}, wrt); err != nil {
			return nil, fmt.Errorf("trainer: graph: %w", err)
		}
	}
	// Compiling for these outputs leaves out what Backpropagate adds beyond the
	// gradients asked for, above all the one by the examples. It does not protect
	// them, or other nodes, from being overwritten by the last operation that
	// reads them, where that works in place, as elementwise ones do. What is read
	// after a run is safe for another reason: log-probabilities, gradients and
	// what enters a dense layer are read by matrix products, reshapes and the
	// derivative of the softmax alone, and none of these changes an element.
	outputs := append(G.Nodes{m.logp}, m.gradient...)
	prog, locs, err := G.CompileFunction(g, params, outputs)
	if err != nil {
		return nil, fmt.Errorf("trainer: graph: %w", err)
	}
	m.vm = G.NewTapeMachine(g, G.WithPrecompiled(prog, locs))
	return m, nil
}

// inputNode returns a node whose value is backing.
func inputNode(g *G.ExprGraph, name string, backing []float64, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
	return G.NewTensor(g, tensor.Float64, len(shape), G.WithShape(shape...), G.WithName(name), G.WithValue(t))
}

// errClosed is returned when something that owns a graph is used after Close.
var errClosed = errors.New("trainer: used after Close")

// run executes the graph of a machine that is not closed on its current
// inputs. The results stay valid until the next run.
func (m *machine) run() error {
	defer m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		return fmt.Errorf("trainer: run: %w", err)
	}
	return nil
}

// close frees the graph. It may be called twice.
func (m *machine) close() error {
	if m.vm == nil {
		return nil
	}
	vm := m.vm
	m.vm, m.logp, m.ends, m.gradient = nil, nil, nil, nil
	if err := vm.Close(); err != nil {
		return fmt.Errorf("trainer: close: %w", err)
	}
	return nil
}

// data returns the numbers of a node that was just computed.
func data(n *G.Node, want int) ([]float64, error) {
	if n.Value() == nil {
		return nil, fmt.Errorf("trainer: run: node %s has no value", n.Name())
	}
	v, ok := n.Value().Data().([]float64)
	if !ok || len(v) != want {
		return nil, fmt.Errorf("trainer: run: node %s has shape %v, rule: must have %d elements", n.Name(), n.Value().Shape(), want)
	}
	return v, nil
}

// load validates the arguments of one call and copies the parameters in.
func (m *machine) load(params []float64, x [][]float64, labels []int) error {
	if m.vm == nil {
		return errClosed
	}
	if err := checkVector("params", params, m.net.dim); err != nil {
		return err
	}
	if len(labels) == 0 || len(x) != len(labels) {
		return invalid("labels", len(labels), "must be at least 1, and one for each of the %d examples", len(x))
	}
	for i, e := range x {
		if len(e) != m.net.input.Size() || slices.ContainsFunc(e, outOfRange) {
			return checkVector(fmt.Sprintf("x[%d]", i), e, m.net.input.Size())
		}
		if labels[i] < 0 || labels[i] >= m.net.classes {
			return invalid(fmt.Sprintf("labels[%d]", i), labels[i], "must be in [0, %d)", m.net.classes)
		}
	}
	copy(m.params, params)
	return nil
}

// forEachBatch runs the graph over the loaded examples, at most m.batch at a
// time, and calls visit after each run with the log-probabilities of its
// examples, len(labels) × classes, and their labels. The seeds of the
// examples of a run are -weight at the label. The graph's gradient is then the
// gradient of weight times the sum of the examples' losses. Unused places are
// seeded with zero.
func (m *machine) forEachBatch(x [][]float64, labels []int, weight float64, visit func(logp []float64, labels []int) error) error {
	size, classes := m.net.input.Size(), m.net.classes
	for len(labels) > 0 {
		n := min(m.batch, len(labels))
		for i := range n {
			copy(m.x[i*size:], x[i])
		}
		if m.seed != nil {
			clear(m.seed)
			for i := range n {
				m.seed[i*classes+labels[i]] = -weight
			}
		}
		if err := m.run(); err != nil {
			return err
		}
		logp, err := data(m.logp, m.batch*classes)
		if err != nil {
			return err
		}
		if err := visit(logp[:n*classes], labels[:n]); err != nil {
			return err
		}
		x, labels = x[n:], labels[n:]
	}
	return nil
}
