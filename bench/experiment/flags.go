package experiment

import (
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// RelationFlag adds the flag --relation, with the names of fl.Relation as its
// values, and returns where its value will be. The hyphen may be left out.
func RelationFlag(f *flag.FlagSet, byDefault fl.Relation) *fl.Relation {
	relation := byDefault
	v := (*relationValue)(&relation)
	f.Var(v, "relation", "neighbouring `relation` of the privacy guarantee: replace-one or zero-out")
	return &relation
}

// CheckEpsilon returns a *fl.ParamError unless the value of the flag --epsilon can be the ε of
// a mechanism.
func CheckEpsilon(epsilon float64) error {
	if !(epsilon > 0 && epsilon <= fl.MaxEpsilon) {
		return fl.Invalid("--epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	}
	return nil
}

// relationValue implements flag.Value.
type relationValue fl.Relation

func (v *relationValue) String() string { return fl.Relation(*v).String() }

// Type implements flag.Value.
func (v *relationValue) Type() string { return "relation" }

func (v *relationValue) Set(text string) error {
	for _, r := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		if text == r.String() || text == strings.ReplaceAll(r.String(), "-", "") {
			*v = relationValue(r)
			return nil
		}
	}
	return fl.Invalid("relation", text, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
}
