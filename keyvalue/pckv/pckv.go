package pckv

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/privacy"
)

// The registered names. The package is named after the family.
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

// Columns implements fl.ColumnLister.
func (factory) Columns() []string { return keyvalue.Columns() }

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	padding, err := readPadding(r)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: round, padding: padding, clone: clone}
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
	if err := r.CheckLocal(); err != nil {
		return 0, err
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

// randomizer is what distinguishes the mechanisms.
type randomizer interface {
	// perturb appends the report of one sent pair.
	perturb(dst []byte, sent signedKey, choose exact.Chooser) []byte
	// read checks a report and calls visit, unless it is nil, with the keys it shows.
	read(report []byte, visit func(key int, minus bool)) error
	channel() Channel
}

type mechanism struct {
	randomizer
	round   *count.Round
	padding int
	clone   *privacy.Clone
}

var (
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.Amplifier         = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return keyvalue.Encode(m, m.round.Round, dst, grad, rng)
}

// EncodeKeyValues implements fl.KeyValueMechanism. O(pairs), and for PCKV-UE the
// expected non-zero positions, dim·2/(e^ε+3).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	choose := exact.Rand{Rand: rng}
	return m.perturb(dst, padAndSample(pairs, m.round.Dim, m.padding, choose), choose), nil
}

func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newCounts) }

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *mechanism) Shuffled() fl.Amplification { return m.clone }

// sized is a mechanism whose reports all have one size.
type sized struct {
	*mechanism
	bytes int
}

var _ fl.ReportSizer = (*sized)(nil)

func (s *sized) ReportBytes() int { return s.bytes }
