package features

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// maxInputs is the largest number of values of an example: 2^24, a picture of 4096×4096 pixels.
const maxInputs = 1 << 24

type identity int

// Identity returns the map that leaves an example of that many values, in [1, 2^24], as it is. O(n).
func Identity(inputs int) (Features, error) {
	if inputs < 1 || inputs > maxInputs {
		return nil, fmt.Errorf("features: identity: %w", fl.Invalid("inputs", inputs, "must be in [1, %d]", maxInputs))
	}
	return identity(inputs), nil
}

func (n identity) Inputs() int { return int(n) }
func (n identity) Dim() int    { return int(n) }

func (n identity) Apply(dst, x []float64) {
	check(n, dst, x)
	copy(dst, x)
}

func (n identity) Digest() [32]byte {
	r := newRecipe("identity")
	r.integers(int(n))
	return r.digest()
}

func (n identity) String() string { return "the values as they are" }

// check panics when dst or x has another length than f says.
func check(f Features, dst, x []float64) {
	if len(x) != f.Inputs() || len(dst) != f.Dim() {
		panic(fmt.Sprintf("features: %v: got %d values and room for %d, rule: must be %d and %d", f, len(x), len(dst), f.Inputs(), f.Dim()))
	}
}
