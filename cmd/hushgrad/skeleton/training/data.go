package main

import (
	"fmt"
	"math/rand/v2"
)

// CHANGE THIS FILE for data of your own: what an example is, and where the three kinds of examples
// come from. Read your own rows in clientExamples, and nowhere else.

// inputs is the number of inputs of an example.
const inputs = 8

// example is what one client holds. The inputs are in [-1, 1]. A range like this has to be public:
// do not read it off the data.
type example struct {
	x   []float64
	yes bool
}

// check refuses examples that are not what this file says: no rows, another number of inputs, or an
// input that is not in [-1, 1]. A run that is not a simulation cannot check: no client reveals its row.
func check(whose string, examples []example) error {
	if len(examples) == 0 {
		return fmt.Errorf("%s: got no examples, rule: must be at least 1", whose)
	}
	for i, e := range examples {
		if len(e.x) != inputs {
			return fmt.Errorf("%s: got %d inputs in row %d, rule: must be %d, see data.go", whose, len(e.x), i, inputs)
		}
		for j, v := range e.x {
			if !(v >= -1 && v <= 1) { // NaN, too
				return fmt.Errorf("%s: got %v as input %d of row %d, rule: must be in [-1, 1]: scale it by a public range in data.go", whose, v, j, i)
			}
		}
	}
	return nil
}

// clientExamples returns the private examples, one for each client. READ YOUR DATA HERE. Here they
// are drawn.
func clientExamples(rng *rand.Rand, n int) []example { return generate(rng, n) }

// testExamples returns examples of no client. The accuracy is measured on them, and no ε covers it.
func testExamples(rng *rand.Rand) []example { return generate(rng, 5000) }

// publicExamples returns examples that say what gradients are like. The clip and the learning rate
// follow from them, and no ε covers that. So NEVER READ A CLIENT'S ROW HERE. These are drawn from
// what everybody knows: each input from its range, and a guess of the answer that is wrong in one of
// seven. Their gradients must have a mean that stands out: answers by a coin have none.
func publicExamples() []example {
	rng := rand.New(rand.NewPCG(1, 1))
	examples := make([]example, 1000)
	for i := range examples {
		x := uniform(rng)
		examples[i] = example{x, near(x) != (rng.Float64() < 0.15)}
	}
	return examples
}

// generate draws n examples. An example is a yes when its inputs are near enough to the middle, and
// one in twenty is wrong.
func generate(rng *rand.Rand, n int) []example {
	examples := make([]example, n)
	for i := range examples {
		x := uniform(rng)
		examples[i] = example{x, near(x) != (rng.Float64() < 0.05)}
	}
	return examples
}

// near says whether inputs are nearer to the middle than on average.
func near(x []float64) bool {
	squares := 0.
	for _, v := range x {
		squares += v * v / inputs
	}
	return squares < 1./3
}

// uniform draws the inputs of an example from their range.
func uniform(rng *rand.Rand) []float64 {
	x := make([]float64, inputs)
	for j := range x {
		x[j] = 2*rng.Float64() - 1
	}
	return x
}
