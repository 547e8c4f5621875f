package privkv

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Registered names.
const (
	NamePrivKV  = "privkv"
	NamePrivKVM = "privkvm"
	NameKVUE    = "kvue"
)

// Names of the parameters of "privkvm" in Round.Params. The others have none.
const (
	// ParamRounds is the number of real rounds c among which the budget of the values
	// is split, in [1, MaxIterations]. Complete sets 1.
	ParamRounds = "rounds"
	// ParamVirtual is the number of virtual iterations, in [0, MaxIterations].
	// Complete sets 5.
	ParamVirtual = "virtual"
)

// MaxIterations bounds both.
const MaxIterations = 1000

func init() {
	for _, name := range []string{NamePrivKV, NamePrivKVM, NameKVUE} {
		fl.Register(name, factory{name})
	}
}

type factory struct{ name string }

// params are the names of the mechanism's parameters with their defaults.
func (f factory) params() map[string]int {
	if f.name == NamePrivKVM {
		return map[string]int{ParamRounds: 1, ParamVirtual: 5}
	}
	return nil
}

// Complete implements fl.Completer.
func (f factory) Complete(r fl.Round) (fl.Round, error) {
	for name, value := range f.params() {
		if !r.Params.Has(name) {
			r.Params = r.Params.With(name, fl.Int(value))
		}
	}
	return r, nil
}

// Open implements fl.Factory.
func (f factory) Open(r fl.Round) (fl.Mechanism, error) {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta != 0:
		return nil, fl.Invalid("delta", r.Delta, "must be 0: this mechanism is ε-LDP")
	case r.Relation != fl.ReplaceOne:
		return nil, fl.Invalid("relation", r.Relation, "must be %s: this mechanism is local", fl.ReplaceOne)
	}
	rounds, virtual, err := f.iterations(r.Params)
	if err != nil {
		return nil, err
	}
	p, err := newProtocol(f.name, r.Epsilon, rounds, virtual)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	return &mechanism{round: r, digest: digest, protocol: p, codec: newCodec(r.Dim, len(p.messages)), rounds: rounds}, nil
}

// iterations returns the numbers of real and of virtual iterations: 1 and 0 for
// mechanisms that are not iterative.
func (f factory) iterations(p fl.Params) (rounds, virtual int, err error) {
	if f.name != NamePrivKVM {
		return 1, 0, p.Only()
	}
	if err := p.Only(ParamRounds, ParamVirtual); err != nil {
		return 0, 0, err
	}
	if rounds, err = p.Int(ParamRounds); err != nil {
		return 0, 0, err
	}
	if virtual, err = p.Int(ParamVirtual); err != nil {
		return 0, 0, err
	}
	if rounds < 1 || rounds > MaxIterations {
		return 0, 0, fl.Invalid(ParamRounds, rounds, "must be in [1, %d]", MaxIterations)
	}
	if virtual < 0 || virtual > MaxIterations {
		return 0, 0, fl.Invalid(ParamVirtual, virtual, "must be in [0, %d]", MaxIterations)
	}
	return rounds, virtual, nil
}
