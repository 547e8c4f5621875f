package main

import (
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// The model: two numbers, a layer of hidden units, one chance. Change it here.
const (
	inputs = 2
	hidden = 16
	dim    = inputs*hidden + hidden + hidden + 1 // of the flat vector of all parameters
)

// network is a graph of Gorgonia for one example. Its parameters are parts of one flat slice.
type network struct {
	params, x, y []float64
	chance       G.Value   // that the example is of class 1
	derivatives  []G.Value // of the loss, in the order of the flat slice
	machine      G.VM
}

// newNetwork builds the graph and differentiates its loss.
func newNetwork() (*network, error) {
	n := &network{params: make([]float64, dim), x: make([]float64, inputs), y: make([]float64, 1)}
	g, left := G.NewGraph(), n.params
	var weights G.Nodes
	weight := func(name string, rows, columns int) *G.Node {
		weights = append(weights, matrix(g, name, left[:rows*columns], rows, columns))
		left = left[rows*columns:]
		return weights[len(weights)-1]
	}
	x, y := matrix(g, "x", n.x, 1, inputs), matrix(g, "y", n.y, 1, 1)
	w1, b1, w2, b2 := weight("w1", inputs, hidden), weight("b1", 1, hidden), weight("w2", hidden, 1), weight("b2", 1, 1)

	// Gorgonia's errors come from shapes that do not fit: G.Must panics while you write the model.
	layer := G.Must(G.Tanh(G.Must(G.Add(G.Must(G.Mul(x, w1)), b1))))
	logOdds := G.Must(G.Add(G.Must(G.Mul(layer, w2)), b2))
	chance := G.Must(G.Sigmoid(logOdds))
	loss := G.Must(G.Sum(G.Must(G.Sub(G.Must(G.Softplus(logOdds)), G.Must(G.HadamardProd(y, logOdds))))))
	derivatives, err := G.Grad(loss, weights...)
	if err != nil {
		return nil, err
	}
	G.Read(chance, &n.chance)
	n.derivatives = make([]G.Value, len(derivatives))
	for i, d := range derivatives {
		G.Read(d, &n.derivatives[i])
	}
	n.machine = G.NewTapeMachine(g)
	return n, nil
}

// matrix is a node whose value is a slice that we write to.
func matrix(g *G.ExprGraph, name string, backing []float64, rows, columns int) *G.Node {
	value := tensor.New(tensor.WithShape(rows, columns), tensor.WithBacking(backing))
	return G.NewMatrix(g, tensor.Float64, G.WithShape(rows, columns), G.WithName(name), G.WithValue(value))
}

// run computes the chance for one example, and all gradients.
func (n *network) run(params []float64, e example) (chance float64, err error) {
	n.machine.Reset()
	copy(n.params, params)
	copy(n.x, e.x[:])
	n.y[0] = e.y
	if err := n.machine.RunAll(); err != nil {
		return 0, err
	}
	return n.chance.Data().([]float64)[0], nil
}

// gradient writes the gradient at an example into dst, of length dim.
func (n *network) gradient(dst, params []float64, e example) error {
	if _, err := n.run(params, e); err != nil {
		return err
	}
	dst = dst[:0]
	for _, d := range n.derivatives {
		dst = append(dst, d.Data().([]float64)...)
	}
	return nil
}

// initial draws the first parameters. They are public.
func initial(rng *rand.Rand) []float64 {
	params := make([]float64, dim)
	for i := range params {
		params[i] = rng.NormFloat64()
	}
	return params
}

// example is what a client holds.
type example struct {
	x [inputs]float64
	y float64 // 0 or 1
}

// generate draws examples: class 1 is inside of a circle, which no linear model finds.
func generate(rng *rand.Rand, n int) []example {
	out := make([]example, n)
	for i := range out {
		a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
		out[i].x = [inputs]float64{a, b}
		if a*a+b*b < 2 {
			out[i].y = 1
		}
	}
	return out
}
