package sparse

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/cells"
	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/ternarize"
)

// Sampler draws the slot of one client under one hash function. It is reused
// without allocating and is not safe for concurrent use.
type Sampler interface {
	Slot(x fl.Ternary, f slothash.Func, choose exact.Chooser) uint32
}

// Scheme is what a mechanism supplies on top of its configuration.
type Scheme struct {
	Config
	Family slothash.Family
	// Blanket bounds what shuffled reports tell.
	Blanket     *privacy.Blanket
	Calibration Calibration
	NewSampler  func() Sampler
	// Advise comments on the round's parameters; nil if there is nothing to choose.
	Advise func(Point) []string
}

// mechanism implements fl.SparseMechanism.
type mechanism struct {
	scheme   Scheme
	codec    slothash.Codec
	digest   [32]byte
	encoders sync.Pool // of *encoder
}

var (
	_ fl.SparseMechanism = (*mechanism)(nil)
	_ fl.Adviser         = (*mechanism)(nil)
)

// New returns the mechanism of a scheme.
func New(s Scheme) (fl.SparseMechanism, error) {
	if err := s.Calibration.validate(); err != nil {
		return nil, err
	}
	digest, err := s.Round.Digest()
	if err != nil {
		return nil, err
	}
	first, err := s.newEncoder()
	if err != nil {
		return nil, err
	}
	m := &mechanism{scheme: s, codec: slothash.NewCodec(s.Slots), digest: digest}
	m.encoders.Put(first)
	return m, nil
}

// encoder is the scratch space of one Encode at a time.
type encoder struct {
	ternarizer *ternarize.Sampler
	hash       slothash.Func
	sampler    Sampler
	repeats    *cells.Set
}

func (s Scheme) newEncoder() (*encoder, error) {
	t, err := ternarize.NewSampler(s.Round.Dim, s.Sparsity, s.Round.Scale)
	if err != nil {
		return nil, err
	}
	return &encoder{
		ternarizer: t,
		hash:       s.Family.Func(),
		sampler:    s.NewSampler(),
		repeats:    cells.NewSet(uint32(s.Round.Dim+s.Sparsity), s.Sparsity),
	}, nil
}

func (m *mechanism) encoder() (*encoder, error) {
	if e, ok := m.encoders.Get().(*encoder); ok {
		return e, nil
	}
	return m.scheme.newEncoder()
}

// Encode implements fl.Mechanism: ternarize, then randomize. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	e, err := m.encoder()
	if err != nil {
		return dst, err
	}
	defer m.encoders.Put(e)
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := e.ternarizer.Sample(grad, rng)
	if err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.scheme.Round.Mechanism, err)
	}
	return m.codec.Append(dst, e.report(x, rng.Uint32(), exact.Rand{Rand: rng})), nil
}

// EncodeTernary implements fl.SparseMechanism. O(sparsity).
func (m *mechanism) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeChoosing(dst, x, rng.Uint32(), exact.Rand{Rand: rng})
}

// EncodeChoosing is EncodeTernary with the hash function's seed given and every
// other choice taken by choose, so that the law of a report can be enumerated.
// O(sparsity).
func (m *mechanism) EncodeChoosing(dst []byte, x fl.Ternary, seed uint32, choose exact.Chooser) ([]byte, error) {
	if err := x.Validate(m.scheme.Round.Dim, m.scheme.Sparsity); err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.scheme.Round.Mechanism, err)
	}
	e, err := m.encoder()
	if err != nil {
		return dst, err
	}
	defer m.encoders.Put(e)
	e.repeats.Reset()
	for _, j := range x.Index {
		if _, fresh := e.repeats.Add(j); !fresh {
			return dst, fmt.Errorf("%s: encode: %w", m.scheme.Round.Mechanism,
				fl.Invalid("ternary.index", j, "must be listed once"))
		}
	}
	return m.codec.Append(dst, e.report(x, seed, choose)), nil
}

func (e *encoder) report(x fl.Ternary, seed uint32, choose exact.Chooser) slothash.Report {
	e.hash.Bind(seed)
	return slothash.Report{Seed: seed, Slot: e.sampler.Slot(x, e.hash, choose)}
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return &aggregator{mechanism: m, tally: m.scheme.Family.NewTally()}
}

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Model: fl.Local, Epsilon: m.scheme.Round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return m.codec.Bytes() }

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string {
	s := m.scheme
	if s.Advise == nil {
		return nil
	}
	return s.Advise(Point{Dim: s.Round.Dim, Sparsity: s.Sparsity, Slots: s.Slots, Epsilon: s.Round.Epsilon, Hash: s.Hash})
}

func (m *mechanism) Central(n int, delta float64) (float64, error) {
	return m.scheme.Blanket.Epsilon(n, delta)
}

func (m *mechanism) CentralDelta(n int, epsilon float64) (float64, error) {
	return m.scheme.Blanket.Delta(n, epsilon)
}
