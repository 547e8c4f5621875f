package main

import "math"

// CHANGE THIS FILE for a model of your own: dim, firstModel, gradient, predict and share. A gradient
// may come from any code. hushgrad needs to know how many numbers it has. The answer of an example is
// a field of example in data.go: with more than two classes change it there, too.

// dim is the number of parameters: two for each input, and one.
const dim = 2*inputs + 1

// firstModel is the model at which the first clients train.
func firstModel() []float64 { return make([]float64, dim) }

// features are what the model sees of an example: its inputs, their squares, and 1.
func features(x []float64) []float64 {
	f := make([]float64, 0, dim)
	f = append(f, x...)
	for _, v := range x {
		f = append(f, v*v)
	}
	return append(f, 1)
}

// gradient writes the gradient of the loss of one example at params into grad: logistic regression
// on features.
func gradient(grad, params []float64, e example) {
	f := features(e.x)
	wrong := predict(params, e.x)
	if e.yes {
		wrong--
	}
	for i, v := range f {
		grad[i] = wrong * v
	}
}

// predict returns the probability of yes.
func predict(params, x []float64) float64 {
	z := 0.
	for i, v := range features(x) {
		z += params[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// share is the share of examples that a model gets right.
func share(params []float64, examples []example) float64 {
	right := 0
	for _, e := range examples {
		if (predict(params, e.x) > 0.5) == e.yes {
			right++
		}
	}
	return float64(right) / float64(len(examples))
}
