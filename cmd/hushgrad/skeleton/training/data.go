package main

import "math/rand/v2"

// CHANGE THIS FILE for data of your own: what an example is, and where the examples come from.

// inputs is the number of inputs of an example.
const inputs = 8

// example is what one client holds. The inputs are in [-1, 1], and a range like this has to be
// public: it must not be read off the data.
type example struct {
	x   []float64
	yes bool
}

// generate draws n examples. An example is a yes when its inputs are near enough to the middle, and
// one in twenty is wrong.
func generate(rng *rand.Rand, n int) []example {
	examples := make([]example, n)
	for i := range examples {
		x, squares := make([]float64, inputs), 0.
		for j := range x {
			x[j] = 2*rng.Float64() - 1
			squares += x[j] * x[j] / inputs
		}
		examples[i] = example{x, (squares < 1./3) != (rng.Float64() < 0.05)}
	}
	return examples
}
