package sparse

import (
	"cmp"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Names of the parameters in Round.Params.
const (
	ParamSparsity = "sparsity" // entries of a ternary vector, s
	ParamSlots    = "slots"    // number of slots, t
	ParamHash     = "hash"     // hash family, HashGF2 or HashIdeal
)

// MaxSparsity bounds the entries of a ternary vector.
const MaxSparsity = 1 << 20

// Point holds the public parameters that the error of a sparse mechanism depends on.
type Point struct {
	Dim      int     // coordinates, in [1, fl.MaxDim]
	Sparsity int     // entries of a client's vector, in [1, min(Dim, MaxSparsity)]
	Slots    int     // number of slots; ignored where the best one is asked for or only one is possible
	Epsilon  float64 // local privacy budget, in (0, fl.MaxEpsilon]
	Hash     string  // HashGF2 or HashIdeal; "" stands for HashGF2
}

func (p Point) check() error {
	if err := CheckShape(p.Dim, p.Sparsity); err != nil {
		return err
	}
	if !(p.Epsilon > 0 && p.Epsilon <= fl.MaxEpsilon) {
		return fl.Invalid("epsilon", p.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	}
	return nil
}

// weights returns e^ε and the total weight Ω = l·e^ε + t − l of the slots when l of them
// are likely.
func (p Point) weights(likely int) (high, total float64) {
	high = math.Exp(p.Epsilon)
	return high, float64(likely)*high + float64(p.Slots-likely)
}

// ReadSparsity checks what is common to sparse mechanisms, and that the round has
// no parameters but the given ones, and returns the sparsity.
func ReadSparsity(r fl.Round, params ...string) (int, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only(params...)); err != nil {
		return 0, err
	}
	if !r.Params.Has(ParamSparsity) {
		return 0, fl.Invalid(ParamSparsity, "nothing", "an integer in [1, %d] is required: the number of coordinates or keys of a client that a report takes in", min(r.Dim, MaxSparsity))
	}
	s, err := r.Params.Int(ParamSparsity)
	if err != nil {
		return 0, err
	}
	return s, CheckShape(r.Dim, s)
}

// CheckShape checks a dimension and a sparsity against each other.
func CheckShape(dim, sparsity int) error {
	if dim < 1 || dim > fl.MaxDim {
		return fl.Invalid("dim", dim, "must be in [1, %d]", fl.MaxDim)
	}
	if sparsity < 1 || sparsity > dim || sparsity > MaxSparsity {
		return fl.Invalid(ParamSparsity, sparsity, "must be in [1, min(dim, %d)], dim is %d", MaxSparsity, dim)
	}
	return nil
}
