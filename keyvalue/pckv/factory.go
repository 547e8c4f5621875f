package pckv

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
)

// The registered names.
const (
	UE   = "pckv-ue"
	GRR  = "pckv-grr"
	AGRR = "pckv-agrr"
)

// ParamPadding is the padding length ℓ in Round.Params, in [1, dim]: the number of
// pairs that clients are expected to hold. Left open it is dim, the only length that
// fits any client; one that fits most clients is much more accurate.
const ParamPadding = "padding"

func init() {
	for _, name := range []string{UE, GRR, AGRR} {
		fl.Register(name, factory{})
	}
}

type factory struct{}

var _ fl.Completer = factory{}

// Complete implements fl.Completer.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	if !r.Params.Has(ParamPadding) {
		r.Params = r.Params.With(ParamPadding, fl.Int(r.Dim))
	}
	return r, nil
}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	padding, err := readPadding(r)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: r, padding: padding, digest: digest, clone: clone}
	switch r.Mechanism {
	case UE:
		m.randomizer, err = newUnary(r.Epsilon, r.Dim)
		return m, err
	case AGRR:
		return newSized(m, padding)
	default:
		return newSized(m, 1)
	}
}

func newSized(m *mechanism, gain int) (fl.Mechanism, error) {
	g, err := newResponse(m.round.Epsilon, m.round.Dim, m.padding, gain)
	if err != nil {
		return nil, err
	}
	m.randomizer = g
	return &sized{mechanism: m, bytes: g.bytes()}, nil
}

func readPadding(r fl.Round) (int, error) {
	switch {
	case math.IsInf(r.Epsilon, 1):
		return 0, fl.Invalid("epsilon", r.Epsilon, "must be finite: this mechanism is private")
	case r.Delta != 0:
		return 0, fl.Invalid("delta", r.Delta, "must be 0: this mechanism is ε-LDP")
	case r.Relation != fl.ReplaceOne:
		return 0, fl.Invalid("relation", r.Relation, "must be %s: this mechanism is local", fl.ReplaceOne)
	}
	if err := r.Params.Only(ParamPadding); err != nil {
		return 0, err
	}
	padding, err := r.Params.Int(ParamPadding)
	if err != nil {
		return 0, err
	}
	if padding < 1 || padding > r.Dim {
		return 0, fl.Invalid(ParamPadding, padding, "must be in [1, dim = %d]", r.Dim)
	}
	return padding, nil
}

// sized is a mechanism whose reports all have one size.
type sized struct {
	*mechanism
	bytes int
}

var _ fl.ReportSizer = (*sized)(nil)

func (s *sized) ReportBytes() int { return s.bytes }
