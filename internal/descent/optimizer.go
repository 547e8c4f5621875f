package descent

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// OptimizerConfig selects how the server turns a gradient g into the next
// parameters θ: see trainer.OptimizerConfig.
type OptimizerConfig struct {
	Name         string
	LearningRate float64
	Momentum     float64
}

// OptimizerNames are the values of OptimizerConfig.Name.
var OptimizerNames = []string{"adam", "momentum", "sgd"}

// The constants of Adam, as in its paper (algorithm 1).
const (
	decayOfMeans   = 0.9
	decayOfSquares = 0.999
	besideRoot     = 1e-8
)

// Optimizer takes steps. It holds the moments between them and is not safe for concurrent use.
type Optimizer struct {
	config        OptimizerConfig
	dim           int
	first, second []float64 // moments, nil where there are none
	steps         int
}

// NewOptimizer returns an optimizer for vectors of length dim, with all
// moments zero. The error names the field that is out of range; for an unknown
// name it lists the known ones.
func NewOptimizer(c OptimizerConfig, dim int) (*Optimizer, error) {
	switch {
	case dim < 1 || dim > MaxValues:
		return nil, invalid("dim", dim, "must be in [1, %d]", MaxValues)
	case !(c.LearningRate > 0) || OutOfRange(c.LearningRate):
		return nil, invalid("learning rate", c.LearningRate, "must be > 0 and at most %g", MaxMagnitude)
	case !(c.Momentum >= 0 && c.Momentum < 1):
		return nil, invalid("momentum", c.Momentum, "must be in [0, 1)")
	case c.Momentum != 0 && c.Name != "momentum":
		return nil, invalid("momentum", c.Momentum, "must be 0 for the optimizer %q", c.Name)
	case !slices.Contains(OptimizerNames, c.Name):
		return nil, invalid("optimizer", c.Name, "must be one of %s", strings.Join(OptimizerNames, ", "))
	}
	o := &Optimizer{config: c, dim: dim}
	if c.Name != "sgd" {
		o.first = make([]float64, dim)
	}
	if c.Name == "adam" {
		o.second = make([]float64, dim)
	}
	return o, nil
}

// Step moves params, in place, along gradient, which is left as it is. Both
// must have the optimizer's length and finite elements of at most MaxMagnitude;
// otherwise the error names the first offending coordinate, and
// neither params nor the moments change. O(d).
//
// A product is rounded before it enters a sum: float64(…) keeps a compiler from fusing the two, which
// it may do on some machines.
func (o *Optimizer) Step(params, gradient []float64) error {
	if err := cmp.Or(CheckVector("params", params, o.dim), CheckVector("gradient", gradient, o.dim)); err != nil {
		return err
	}
	o.steps++
	rate := o.config.LearningRate
	switch o.config.Name {
	case "sgd":
		for i, g := range gradient {
			params[i] += float64(-rate * g)
		}
	case "momentum":
		for i, g := range gradient {
			o.first[i] = float64(o.config.Momentum*o.first[i]) + float64(-rate*g)
			params[i] += o.first[i]
		}
	case "adam":
		o.adam(params, gradient)
	}
	return nil
}

// adam is the step of Adam, with the moments divided by what they lack for their start at zero.
func (o *Optimizer) adam(params, gradient []float64) {
	one := 1.0 // a variable, so that 1 − 0.9 is what float64 makes of it
	meanShare, squareShare := one-decayOfMeans, one-decayOfSquares
	means := 1 / (1 - math.Pow(decayOfMeans, float64(o.steps)))
	squares := 1 / (1 - math.Pow(decayOfSquares, float64(o.steps)))
	for i, g := range gradient {
		o.first[i] = float64(decayOfMeans*o.first[i]) + float64(meanShare*g)
		o.second[i] = float64(decayOfSquares*o.second[i]) + float64(squareShare*float64(g*g))
		root := math.Sqrt(float64(squares*o.second[i])) + besideRoot
		params[i] += float64(-o.config.LearningRate*float64(means*o.first[i])) / root
	}
}
