package experiment

import (
	"flag"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// RelationFlag adds the flag -relation, with the names of fl.Relation as its
// values, and returns where its value will be. The hyphen may be left out.
func RelationFlag(f *flag.FlagSet, byDefault fl.Relation) *fl.Relation {
	relation := byDefault
	v := (*relationValue)(&relation)
	f.Var(v, "relation", "neighbouring `relation` of the privacy guarantee: replace-one or zero-out")
	return &relation
}

// relationValue implements flag.Value.
type relationValue fl.Relation

func (v *relationValue) String() string { return fl.Relation(*v).String() }

func (v *relationValue) Set(text string) error {
	for _, r := range []fl.Relation{fl.ReplaceOne, fl.ZeroOut} {
		if text == r.String() || text == strings.ReplaceAll(r.String(), "-", "") {
			*v = relationValue(r)
			return nil
		}
	}
	return fl.Invalid("relation", text, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
}
