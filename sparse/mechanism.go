package sparse

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/cells"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/ternarize"
)

// mechanism implements fl.SparseMechanism and fl.KeyValueMechanism.
type mechanism struct {
	scheme      *Scheme
	round       *count.Round
	point       Point
	family      HashFamily
	blanket     *privacy.Blanket
	calibration Calibration
	aliasing    float64 // of Definition.Aliasing
	weights     exact.Weights

	codec    Codec
	encoders *sync.Pool // of *encoder
	seed     *uint32    // of all reports; nil: each draws its own
}

var (
	_ fl.SparseMechanism   = (*mechanism)(nil)
	_ fl.KeyValueMechanism = (*mechanism)(nil)
	_ fl.Float32Mechanism  = (*mechanism)(nil)
	_ fl.SeededMechanism   = (*mechanism)(nil)
	_ fl.Adviser           = (*mechanism)(nil)
	_ fl.Swayer            = (*mechanism)(nil)
)

// complete fills in what follows from the other fields.
func (m *mechanism) complete() (fl.SparseMechanism, error) {
	m.codec, m.encoders = NewCodec(m.point.Slots), &sync.Pool{}
	first, err := m.newEncoder()
	if err != nil {
		return nil, err
	}
	m.encoders.Put(first)
	return m, nil
}

// encoder is the scratch space of one Encode at a time.
type encoder struct {
	ternarizer *ternarize.Sampler
	hash       HashFunc
	sampler    Sampler
	repeats    *cells.Set
}

func (m *mechanism) newEncoder() (*encoder, error) {
	t, err := ternarize.NewSampler(m.round.Dim, m.point.Sparsity, m.round.Scale)
	if err != nil {
		return nil, err
	}
	return &encoder{
		ternarizer: t,
		hash:       m.family.Func(),
		sampler:    m.scheme.definition.NewSampler(m.weights, m.point.Sparsity, m.point.Slots),
		repeats:    cells.NewSet(uint32(m.round.Dim+m.point.Sparsity), m.point.Sparsity),
	}, nil
}

func (m *mechanism) encoder() (*encoder, error) {
	if e, ok := m.encoders.Get().(*encoder); ok {
		return e, nil
	}
	return m.newEncoder()
}

// Encode implements fl.Mechanism: ternarize, then randomize. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return m.encode(dst, rng, func(t *ternarize.Sampler, rng *rand.Rand) (fl.Ternary, error) { return t.Sample(grad, rng) })
}

// EncodeFloat32 implements fl.Float32Mechanism. O(dim).
func (m *mechanism) EncodeFloat32(dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
	return m.encode(dst, rng, func(t *ternarize.Sampler, rng *rand.Rand) (fl.Ternary, error) { return t.SampleFloat32(grad, rng) })
}

func (m *mechanism) encode(dst []byte, rng *rand.Rand, ternarized func(*ternarize.Sampler, *rand.Rand) (fl.Ternary, error)) ([]byte, error) {
	e, err := m.encoder()
	if err != nil {
		return dst, err
	}
	defer m.encoders.Put(e)
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := ternarized(e.ternarizer, rng)
	if err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism, err)
	}
	return m.codec.Append(dst, e.report(x, m.draw(rng), exact.Rand{Rand: rng})), nil
}

// EncodeTernary implements fl.SparseMechanism. O(sparsity).
func (m *mechanism) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeChoosing(dst, x, m.draw(rng), exact.Rand{Rand: rng})
}

// draw returns the seed of a report.
func (m *mechanism) draw(rng *rand.Rand) uint32 {
	if m.seed != nil {
		return *m.seed
	}
	return rng.Uint32()
}

// WithSeed implements fl.SeededMechanism.
func (m *mechanism) WithSeed(seed uint32) fl.Mechanism {
	assigned := *m
	assigned.seed = &seed
	return &assigned
}

// SeedOf implements fl.SeededMechanism.
func (m *mechanism) SeedOf(report []byte) (uint32, error) {
	r, err := m.codec.Parse(report)
	return r.Seed, err
}

// EncodeChoosing is EncodeTernary with the hash function's seed given and every
// other choice taken by choose, so that the law of a report can be enumerated.
// O(sparsity).
func (m *mechanism) EncodeChoosing(dst []byte, x fl.Ternary, seed uint32, choose exact.Chooser) ([]byte, error) {
	if err := x.Validate(m.round.Dim, m.point.Sparsity); err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism, err)
	}
	e, err := m.encoder()
	if err != nil {
		return dst, err
	}
	defer m.encoders.Put(e)
	e.repeats.Reset()
	for _, j := range x.Index {
		if _, fresh := e.repeats.Add(j); !fresh {
			return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism,
				fl.Invalid("ternary.index", j, "must be listed once"))
		}
	}
	return m.codec.Append(dst, e.report(x, seed, choose)), nil
}

func (e *encoder) report(x fl.Ternary, seed uint32, choose exact.Chooser) Report {
	e.hash.Bind(seed)
	return Report{Seed: seed, Slot: e.sampler.Slot(x, e.hash, choose)}
}

func (m *mechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *tally { return &tally{mechanism: m, hits: m.family.NewTally()} })
}

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return m.codec.Bytes() }

// MeanVariance returns the variance of the mean of the given number of reports, on average over
// the coordinates and in squared units of Scale. It is exact for clients with sparsity entries and
// leaves out the error of a round's labels. Standard errors are longer where hits are few.
func (m *mechanism) MeanVariance(reports int64) float64 {
	return m.calibration.MeanMSE(m.round.Dim, m.point.Sparsity) / float64(m.round.Dim) / float64(reports)
}

// Sway implements fl.Swayer: what a hit counts for. A report hits a coordinate once, whatever its seed.
func (m *mechanism) Sway() float64 { return m.round.Scale * m.calibration.meanGain() }

// Advice implements fl.Adviser.
func (m *mechanism) Advice() []string { return m.scheme.Advise(m.point) }

// Shuffled implements fl.Amplifier by the blanket of the mechanism's own weights.
func (m *mechanism) Shuffled() fl.Amplification { return m.blanket }

// EncodeKeyValues implements fl.KeyValueMechanism. Each pair becomes an entry. Its
// sign is + with probability (1+value)/2. A client with fewer pairs than the sparsity
// is filled up with dummies. From a client with more pairs, sparsity of them are drawn
// uniformly, and the frequencies are low by what was left out. O(pairs).
func (m *mechanism) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, fmt.Errorf("%s: encode: %w", m.round.Mechanism, err)
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	return m.EncodeTernary(dst, m.ternary(pairs, exact.Rand{Rand: rng}), rng)
}

// ternary draws the vector of a client.
func (m *mechanism) ternary(pairs []fl.KeyValue, choose exact.Chooser) fl.Ternary {
	s := m.point.Sparsity
	x := fl.Ternary{Dim: m.round.Dim, Index: make([]uint32, 0, s), Sign: make([]int8, 0, s)}
	left := min(s, len(pairs))
	for i, p := range pairs {
		// Selection sampling (Knuth, The Art of Computer Programming 2, Algorithm S).
		if choose.Uniform(uint64(len(pairs)-i)) >= uint64(left) {
			continue
		}
		left--
		x.Index, x.Sign = append(x.Index, p.Key), append(x.Sign, signed(p.Value, choose))
	}
	for dummy := uint32(x.Dim); len(x.Index) < s; dummy++ {
		x.Index, x.Sign = append(x.Index, dummy), append(x.Sign, 1)
	}
	return x
}

// signed returns 1 with probability (1+value)/2 in units of 2^−53, and −1 otherwise.
func signed(value float64, choose exact.Chooser) int8 {
	if plus := uint64((1 + value) * (1 << 52)); choose.Uniform(1<<53) < plus {
		return 1
	}
	return -1
}
