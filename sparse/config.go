package sparse

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// Names of the parameters in Round.Params.
const (
	ParamSparsity = "sparsity" // entries of a ternary vector, s
	ParamSlots    = "slots"    // output size of the randomizer, t
	ParamHash     = "hash"     // hash family
)

// Config is what a sparse mechanism reads from a round.
type Config struct {
	Round    fl.Round
	Sparsity int
	Slots    int
	Hash     string
}

// ReadConfig reads and checks the parameters. Whether the hash family allows the
// number of slots is for the family to say.
func ReadConfig(r fl.Round, minSlots func(s int) int) (Config, error) {
	sparsity, err := ReadSparsity(r, ParamSparsity, ParamSlots, ParamHash)
	if err != nil {
		return Config{}, err
	}
	slots, err := r.Params.Int(ParamSlots)
	if err != nil {
		return Config{}, err
	}
	if low := minSlots(sparsity); slots < low || int64(slots) > slothash.MaxSlots {
		return Config{}, fl.Invalid(ParamSlots, slots, "must be in [%d, %d] for sparsity %d", low, int64(slothash.MaxSlots), sparsity)
	}
	hash, err := r.Params.Text(ParamHash)
	if err != nil {
		return Config{}, err
	}
	return Config{Round: r, Sparsity: sparsity, Slots: slots, Hash: hash}, nil
}

// Complete fills the hash family (the default one) and the number of slots where
// the round leaves them open.
func Complete(r fl.Round, bestSlots func(Point) (int, error)) (fl.Round, error) {
	sparsity, err := ReadSparsity(r, ParamSparsity, ParamSlots, ParamHash)
	if err != nil {
		return fl.Round{}, err
	}
	if !r.Params.Has(ParamHash) {
		r.Params = r.Params.With(ParamHash, fl.Text(slothash.Families()[0]))
	}
	if !r.Params.Has(ParamSlots) {
		hash, err := r.Params.Text(ParamHash)
		if err != nil {
			return fl.Round{}, err
		}
		slots, err := bestSlots(Point{Dim: r.Dim, Sparsity: sparsity, Epsilon: r.Epsilon, Hash: hash})
		if err != nil {
			return fl.Round{}, err
		}
		r.Params = r.Params.With(ParamSlots, fl.Int(slots))
	}
	return r, nil
}

func checkBudget(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta != 0:
		return fl.Invalid("delta", r.Delta, "must be 0: this mechanism is ε-LDP")
	case r.Relation != fl.ReplaceOne:
		return fl.Invalid("relation", r.Relation, "must be %s: this mechanism is local", fl.ReplaceOne)
	}
	return nil
}

// ReadSparsity checks what is common to sparse mechanisms, and that the round has
// no parameters but the given ones, and returns the sparsity.
func ReadSparsity(r fl.Round, params ...string) (int, error) {
	if err := checkBudget(r); err != nil {
		return 0, err
	}
	if err := r.Params.Only(params...); err != nil {
		return 0, err
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

// MaxSparsity bounds the entries of a ternary vector.
const MaxSparsity = 1 << 20
