package integers

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// CheckPrivate returns a *fl.ParamError unless r asks for finite ε with ReplaceOne and has
// no parameters of its own.
func CheckPrivate(r fl.Round) error {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Relation != fl.ReplaceOne:
		return fl.Invalid("relation", r.Relation, "must be %s: this mechanism is local", fl.ReplaceOne)
	}
	return r.Params.Only()
}

// CheckPure is CheckPrivate for mechanisms without δ.
func CheckPure(r fl.Round) error {
	if r.Delta != 0 {
		return fl.Invalid("delta", r.Delta, "must be 0: this mechanism is ε-LDP")
	}
	return CheckPrivate(r)
}
