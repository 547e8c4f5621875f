package trainer

import (
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// OptimizerConfig selects how the server turns a gradient g into the next
// parameters θ.
type OptimizerConfig struct {
	// Name is required:
	//
	//	"sgd"       θ ← θ - ηg
	//	"momentum"  u ← μu - ηg,  θ ← θ + u, from u = 0
	//	"adam"      Kingma and Ba 2015 (arXiv:1412.6980), algorithm 1, with
	//	            β₁ = 0.9, β₂ = 0.999 and 1e-8 added to the root
	Name string
	// LearningRate is η. Required, finite and > 0, at most 1e40.
	LearningRate float64
	// Momentum is μ, in [0, 1). It must be 0 unless Name is "momentum".
	Momentum float64
}

// Optimizer performs global steps, without regularisation, clipping or division by a
// batch size (the estimate is a mean already). It holds the moments between
// steps and is not safe for concurrent use.
type Optimizer struct{ of *descent.Optimizer }

// NewOptimizer returns an optimizer for vectors of length dim, with all
// moments zero. The error names the field that is out of range; for an unknown
// name it lists the known ones.
func NewOptimizer(c OptimizerConfig, dim int) (_ *Optimizer, err error) {
	defer prefix.Error(&err, "trainer")
	of, err := descent.NewOptimizer(descent.OptimizerConfig(c), dim)
	if err != nil {
		return nil, err
	}
	return &Optimizer{of}, nil
}

// Step moves params, in place, along gradient, which is left as it is. Both
// must have the optimizer's length and finite elements of at most 1e40 in
// magnitude; otherwise the error names the first offending coordinate, and
// neither params nor the moments change. O(d).
func (o *Optimizer) Step(params, gradient []float64) (err error) {
	defer prefix.Error(&err, "trainer")
	return o.of.Step(params, gradient)
}
