package trainer

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Model is the immutable description of a classifier. It holds no parameters:
// those are a flat []float64 of length Dim that the caller owns. A Model is
// safe for concurrent use.
type Model interface {
	// Dim returns d, the number of parameters.
	Dim() int
	// Layout returns where each parameter lies in the flat vector, in order of
	// increasing offset and without gaps. The result is the caller's.
	Layout() []Param
	// Init draws a start vector of length Dim from rng: biases are zero,
	// weights are normal with variance 2/fan-in before a ReLU and 1/fan-in
	// otherwise (He et al. 2015, arXiv:1502.01852, section 2.2); softmax
	// regression starts from zero. Equal generators give equal vectors.
	Init(rng *rand.Rand) []float64
	// NewWorker builds the graph that computes gradients, batch examples at a
	// time. The result does not depend on batch, only speed and memory do: 1
	// suits clients that hold a single example. The error names batch when it
	// is not positive or too large.
	NewWorker(batch int) (*Worker, error)
	// NewExamples builds the graph that computes the gradients of single
	// examples, up to batch of them in one run: for clients with one example
	// each that are simulated in one process. Errors as those of NewWorker.
	NewExamples(batch int) (*Examples, error)
	// NewEvaluator builds the forward half of that graph alone.
	NewEvaluator(batch int) (*Evaluator, error)
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

// check says whether the sides are positive, their product is in range, and
// there are at least two classes.
func (in Input) check(classes int) error {
	if in.Channels < 1 || in.Height < 1 || in.Width < 1 {
		return fmt.Errorf("trainer: input: got %+v, must have every side at least 1", in)
	}
	if classes < 2 || classes > maxValues {
		return fmt.Errorf("trainer: classes: got %d, must be between 2 and %d", classes, maxValues)
	}
	_, err := volume("input", in.Channels, in.Height, in.Width)
	return err
}

// Sizes of the models that NewModel builds. For 28×28 pixels and ten classes
// they give 7850, 25450 and 5386 parameters.
const (
	defaultHidden   = 32
	defaultChannels = 8
)

var models = map[string]func(Input, int) (Model, error){
	"softmax": NewSoftmax,
	"mlp":     func(in Input, classes int) (Model, error) { return NewMLP(in, classes, defaultHidden) },
	"cnn": func(in Input, classes int) (Model, error) {
		return NewCNN(in, classes, defaultChannels, 2*defaultChannels)
	},
}

// ModelNames returns the names that NewModel knows, sorted.
func ModelNames() []string { return slices.Sorted(maps.Keys(models)) }

// NewModel returns the model of that name for that input and number of
// classes, with default sizes: "softmax" is NewSoftmax, "mlp" is NewMLP with
// 32 hidden units, "cnn" is NewCNN with 8 and 16 channels. The error for an
// unknown name lists the known ones.
func NewModel(name string, in Input, classes int) (Model, error) {
	build, ok := models[name]
	if !ok {
		return nil, fmt.Errorf("trainer: model: got %q, must be one of %s", name, strings.Join(ModelNames(), ", "))
	}
	return build(in, classes)
}
