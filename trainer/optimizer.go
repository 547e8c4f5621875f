package trainer

import (
	"cmp"
	"fmt"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
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

// Optimizer performs global steps with a solver of Gorgonia: VanillaSolver,
// Momentum or AdamSolver, without regularisation, clipping or division by a
// batch size (the estimate is a mean already). It holds the moments between
// steps and is not safe for concurrent use.
type Optimizer struct {
	solver   G.Solver
	params   *tensor.Dense // working copies, of length dim
	gradient *tensor.Dense
}

// optimizerNames are the values of OptimizerConfig.Name.
var optimizerNames = []string{"adam", "momentum", "sgd"}

// NewOptimizer returns an optimizer for vectors of length dim, with all
// moments zero. The error names the field that is out of range; for an unknown
// name it lists the known ones.
func NewOptimizer(c OptimizerConfig, dim int) (*Optimizer, error) {
	if dim < 1 || dim > maxValues {
		return nil, invalid("dim", dim, "must be in [1, %d]", maxValues)
	}
	if !(c.LearningRate > 0) || outOfRange(c.LearningRate) {
		return nil, invalid("learning rate", c.LearningRate, "must be > 0 and at most %g", maxMagnitude)
	}
	if !(c.Momentum >= 0 && c.Momentum < 1) {
		return nil, invalid("momentum", c.Momentum, "must be in [0, 1)")
	}
	if c.Momentum != 0 && c.Name != "momentum" {
		return nil, invalid("momentum", c.Momentum, "must be 0 for the optimizer %q", c.Name)
	}
	o := &Optimizer{params: vector(dim), gradient: vector(dim)}
	rate := G.WithLearnRate(c.LearningRate)
	switch c.Name {
	case "sgd":
		o.solver = G.NewVanillaSolver(rate)
	case "momentum":
		o.solver = G.NewMomentum(rate, G.WithMomentum(c.Momentum))
	case "adam":
		o.solver = G.NewAdamSolver(rate, G.WithBeta1(0.9), G.WithBeta2(0.999), G.WithEps(1e-8))
	default:
		return nil, invalid("optimizer", c.Name, "must be one of %s", strings.Join(optimizerNames, ", "))
	}
	return o, nil
}

func vector(dim int) *tensor.Dense {
	return tensor.New(tensor.WithShape(dim), tensor.WithBacking(make([]float64, dim)))
}

// Step moves params, in place, along gradient, which is left as it is. Both
// must have the optimizer's length and finite elements of at most 1e40 in
// magnitude; otherwise the error names the first offending coordinate, and
// neither params nor the moments change. O(d).
func (o *Optimizer) Step(params, gradient []float64) error {
	dim := o.params.Shape().TotalSize()
	if err := cmp.Or(checkVector("params", params, dim), checkVector("gradient", gradient, dim)); err != nil {
		return err
	}
	work := o.params.Float64s()
	copy(work, params)
	copy(o.gradient.Float64s(), gradient) // the solvers overwrite it
	if err := o.solver.Step([]G.ValueGrad{valueGrad{o}}); err != nil {
		return fmt.Errorf("trainer: step: %w", err)
	}
	copy(params, work)
	return nil
}

// valueGrad shows the two working vectors to a solver.
type valueGrad struct{ o *Optimizer }

func (v valueGrad) Value() G.Value         { return v.o.params }
func (v valueGrad) Grad() (G.Value, error) { return v.o.gradient, nil }
