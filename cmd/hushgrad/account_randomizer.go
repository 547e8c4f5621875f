package main

import (
	"maps"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/mechanisms"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/sparse"
)

// generic is the --mechanism for any randomizer. Only its ε is known.
const generic = "generic"

// randomizer is what amplification depends on: a round whose reports are shuffled.
type randomizer struct {
	mechanism            string
	epsilon              float64
	dim, sparsity, slots int
	columns              string
	params               fl.Params
}

func (r *randomizer) bind(f *flag.FlagSet) {
	r.mechanism, r.params = coco.Name, fl.Params{}
	command.OneOf(f, &r.mechanism, "mechanism", "", append(fl.Mechanisms(), generic), "mechanism of the round, or generic for any ε-LDP randomizer")
	f.Float64Var(&r.epsilon, "epsilon", 1, "local ε of one report")
	f.IntVar(&r.dim, "dim", 0, "number of coordinates or keys of the round; required where the round's number of slots depends on it")
	f.IntVar(&r.sparsity, "sparsity", 40, "entries of a ternary vector, s; coco, collision and signsketch")
	f.IntVar(&r.slots, "slots", 0, "number of slots t; coco and collision; 0: what a round of hushgrad round has")
	f.StringVar(&r.columns, "columns", "pairs", "--columns of the round, on which its number of slots depends; see hushgrad round")
	f.Var(paramFlag(r.params), "param", "`name=value` of another parameter of the mechanism; may be repeated")
}

// scheme returns the sparse mechanism of that name, or nil.
func (r randomizer) scheme() *sparse.Scheme {
	for _, s := range mechanisms.Schemes() {
		if s.Name() == r.mechanism {
			return s
		}
	}
	return nil
}

func (r randomizer) validate(f *flag.FlagSet) error {
	scheme := r.scheme()
	asksForSlots := scheme != nil && len(scheme.Columns()) > 0
	switch {
	case !(r.epsilon > 0 && r.epsilon <= fl.MaxEpsilon):
		return fl.Invalid("--epsilon", r.epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case scheme != nil && r.sparsity < 1:
		return fl.Invalid("--sparsity", r.sparsity, "must be at least 1")
	case r.slots != 0 && !asksForSlots:
		return fl.Invalid("--slots", r.slots, "must be 0: %s has no such parameter", r.mechanism)
	case r.slots != 0 && r.slots <= r.sparsity:
		return fl.Invalid("--slots", r.slots, "must be above the sparsity, %d, or 0", r.sparsity)
	case r.dim < 0 || r.dim > fl.MaxDim:
		return fl.Invalid("--dim", r.dim, "must be in [1, %d]", fl.MaxDim)
	case r.dim == 0 && (asksForSlots && r.slots == 0 || scheme == nil && r.mechanism != generic):
		return fl.Invalid("--dim", r.dim, "must be the dimension of the round")
	case scheme != nil && (r.params.Has(sparse.ParamSparsity) || r.params.Has(sparse.ParamSlots)):
		return fl.Invalid("--param", "sparsity or slots", "must be given as --sparsity and --slots")
	case scheme != nil && r.dim > 0 && r.sparsity > r.dim:
		return fl.Invalid("--sparsity", r.sparsity, "must be at most the dimension of the round, --dim %d", r.dim)
	case r.mechanism == generic:
		return command.Unused(f, "with --mechanism generic", "dim", "sparsity", "slots", "columns", "param")
	case scheme == nil:
		return command.Unused(f, "with --mechanism "+r.mechanism+", see --param", "sparsity", "slots")
	}
	return nil
}

// round describes the round at a local ε, as hushgrad round would open it.
func (r randomizer) round(epsilon float64) fl.Round {
	out := fl.Round{
		ID: "account", Mechanism: r.mechanism, Dim: r.dim, Scale: 1, Epsilon: epsilon, Relation: fl.ReplaceOne, MinReports: 1,
		PublicSeed: [32]byte{1}, Params: maps.Clone(r.params), Columns: columnsOf(r.mechanism, r.columns),
	}
	if r.scheme() != nil {
		out.Dim = max(r.dim, r.sparsity) // where the dimension does not matter it may be left out
		out.Params[sparse.ParamSparsity] = fl.Int(r.sparsity)
		if r.slots > 0 {
			out.Params[sparse.ParamSlots] = fl.Int(r.slots)
		}
	}
	return out
}

// at returns the bound for the round at a local ε, with its number of slots if it has one.
func (r randomizer) at(epsilon float64) (a fl.Amplification, slots int, err error) {
	if r.mechanism == generic {
		a, err = privacy.NewClone(epsilon)
		return a, 0, err
	}
	scheme := r.scheme()
	if scheme == nil {
		_, m, err := fl.Complete(r.round(epsilon))
		if err != nil {
			return nil, 0, err
		}
		if m.Guarantee().RealNumbers {
			return nil, 0, fl.Invalid("--mechanism", r.mechanism, "must have a proof that holds for the floating-point code, too")
		}
		shuffled, ok := m.(fl.Amplifier)
		if !ok {
			return nil, 0, fl.Invalid("--mechanism", r.mechanism, "must be one whose guarantee grows stronger when reports are shuffled")
		}
		return shuffled.Shuffled(), 0, nil
	}
	// Completing finds the round's slots without the memory that opening it takes.
	completed, err := scheme.Complete(r.round(epsilon))
	if err != nil {
		return nil, 0, err
	}
	p := sparse.Point{Dim: completed.Dim, Sparsity: r.sparsity, Epsilon: epsilon}
	if completed.Params.Has(sparse.ParamSlots) {
		if p.Slots, err = completed.Params.Int(sparse.ParamSlots); err != nil {
			return nil, 0, err
		}
	}
	a, err = scheme.Blanket(p)
	return a, p.Slots, err
}

// boundName names the bound that at returns.
func boundName(a fl.Amplification) string {
	if _, ok := a.(*privacy.Blanket); ok {
		return "privacy blanket"
	}
	return "standard clone"
}
