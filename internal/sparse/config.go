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

// ReadConfig reads and checks the parameters. minSlots is the smallest number
// of slots the mechanism allows for s entries.
func ReadConfig(r fl.Round, minSlots func(s int) int) (Config, error) {
	if err := checkBudget(r); err != nil {
		return Config{}, err
	}
	sparsity, err := readSparsity(r)
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

// Complete fills the hash family and the number of slots where the round
// leaves them open.
func Complete(r fl.Round, bestSlots func(dim, sparsity int, epsilon float64) (int, error)) (fl.Round, error) {
	if err := checkBudget(r); err != nil {
		return fl.Round{}, err
	}
	sparsity, err := readSparsity(r)
	if err != nil {
		return fl.Round{}, err
	}
	if !r.Params.Has(ParamHash) {
		r.Params = r.Params.With(ParamHash, fl.Text(slothash.Ideal))
	}
	if !r.Params.Has(ParamSlots) {
		slots, err := bestSlots(r.Dim, sparsity, r.Epsilon)
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
	return r.Params.Only(ParamSparsity, ParamSlots, ParamHash)
}

func readSparsity(r fl.Round) (int, error) {
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
