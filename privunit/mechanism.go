package privunit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/privacy"
	"github.com/hushgrad/hushgrad/rotation"
	"github.com/hushgrad/hushgrad/sparse"
)

// Name is the registered name.
const Name = "privunit"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

var _ fl.Completer = factory{}

// read returns the point that a round describes. Parameters that it leaves open are 0.
func read(r fl.Round) (Point, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only(ParamCandidates, ParamLikely)); err != nil {
		return Point{}, err
	}
	p := Point{Dim: r.Dim, Epsilon: r.Epsilon}
	var err error
	if p.Candidates, err = readParam(r, ParamCandidates); err != nil {
		return Point{}, err
	}
	p.Likely, err = readParam(r, ParamLikely)
	return p, err
}

// readParam returns a parameter, and 0 where the round leaves it open.
func readParam(r fl.Round, name string) (int, error) {
	if !r.Params.Has(name) {
		return 0, nil
	}
	v, err := r.Params.Int(name)
	if err == nil && v < 1 {
		err = fl.Invalid(name, v, "must be at least 1")
	}
	return v, err
}

// Complete implements fl.Completer: DefaultCandidates, and the likely candidates with the least error.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	p, err := read(r)
	if err != nil {
		return fl.Round{}, err
	}
	if p, err = p.Complete(); err != nil {
		return fl.Round{}, err
	}
	r.Params = p.Params()
	return r, nil
}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	p, err := read(r)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{ParamCandidates, ParamLikely} {
		if !r.Params.Has(name) {
			return nil, fl.Invalid(name, "nothing", "an integer is required, see fl.Complete")
		}
	}
	if p, err = p.Complete(); err != nil {
		return nil, err
	}
	if r.Scale < 0x1p-900 || r.Scale > 0x1p+900 {
		return nil, fl.Invalid("scale", r.Scale, "must be in [2^-900, 2^900]")
	}
	return newMechanism(r, p)
}

// mechanism implements fl.Mechanism.
type mechanism struct {
	round      *count.Round
	point      Point
	weights    exact.Weights
	law        law
	blanket    *privacy.Blanket
	rotation   *rotation.Rotation
	candidates candidates
	codec      sparse.Codec
	encoders   *sync.Pool // of *encoder
	seed       *uint32    // of all reports; nil: each draws its own
}

var (
	_ fl.ReportSizer      = (*mechanism)(nil)
	_ fl.Amplifier        = (*mechanism)(nil)
	_ fl.Float32Mechanism = (*mechanism)(nil)
	_ fl.SeededMechanism  = (*mechanism)(nil)
	_ fl.Swayer           = (*mechanism)(nil)
)

func newMechanism(r fl.Round, p Point) (*mechanism, error) {
	m := &mechanism{point: p, codec: sparse.NewCodec(p.Candidates), encoders: &sync.Pool{}}
	var err error
	if m.round, err = count.NewRound(r); err != nil {
		return nil, err
	}
	if m.weights, err = exact.NewWeights(p.Epsilon, p.Likely, p.Candidates); err != nil {
		return nil, err
	}
	m.law = p.law(float64(m.weights.High), float64(m.weights.Low))
	if m.blanket, err = p.Blanket(); err != nil {
		return nil, err
	}
	signs, err := r.PublicKey(Name + "/signs")
	if err != nil {
		return nil, err
	}
	if m.rotation, err = rotation.New(max(p.Dim, minPadded), signs); err != nil {
		return nil, err
	}
	key, err := r.PublicKey(Name + "/candidates")
	if err != nil {
		return nil, err
	}
	m.candidates = newCandidates(key, p.PaddedDim())
	return m, nil
}

// encoder is the scratch space of one Encode at a time, and the part of an Encode that is no choice.
type encoder struct {
	mechanism *mechanism
	gradient  []float64 // of EncodeFloat32
	vector    []float64
	columns   []column
	opposed   []uint64

	seed    uint32
	signs   [2]uint64 // weights of the gradient's direction and of the opposite one
	ranking []uint32  // candidates, the most along the gradient first
}

func (m *mechanism) newEncoder() *encoder {
	return &encoder{
		mechanism: m,
		vector:    make([]float64, m.point.PaddedDim()),
		columns:   make([]column, m.candidates.words),
		opposed:   make([]uint64, m.point.Candidates),
		ranking:   make([]uint32, m.point.Candidates),
	}
}

func (m *mechanism) encoder() *encoder {
	if e, ok := m.encoders.Get().(*encoder); ok {
		return e
	}
	return m.newEncoder()
}

// Encode implements fl.Mechanism. O(d'·k) for k candidates and the padded dimension d'.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	e := m.encoder()
	defer m.encoders.Put(e)
	return m.encode(e, dst, grad, rng)
}

// EncodeFloat32 implements fl.Float32Mechanism.
func (m *mechanism) EncodeFloat32(dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
	e := m.encoder()
	defer m.encoders.Put(e)
	e.gradient = slices.Grow(e.gradient[:0], len(grad))
	for _, g := range grad {
		e.gradient = append(e.gradient, float64(g))
	}
	return m.encode(e, dst, e.gradient, rng)
}

func (m *mechanism) encode(e *encoder, dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	seed := m.seed
	if seed == nil {
		seed = new(rng.Uint32())
	}
	if err := e.rank(grad, *seed); err != nil {
		return dst, err
	}
	return e.choose(dst, exact.Rand{Rand: rng}), nil
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

// Prepare returns what is left to chance once the seed of a report is drawn: a function that appends the
// report of grad and depends on nothing but its choices. Encode draws the seed as the first Uint32 of rng.
func (m *mechanism) Prepare(grad []float64, seed uint32) (func(dst []byte, choose exact.Chooser) []byte, error) {
	e := m.newEncoder()
	if err := e.rank(grad, seed); err != nil {
		return nil, err
	}
	return e.choose, nil
}

// signUnits is the sum of the weights of the two directions.
const signUnits = 1 << 53

// rank fills in what the choices depend on.
func (e *encoder) rank(grad []float64, seed uint32) error {
	m := e.mechanism
	g, err := clip.Measure(grad, m.point.Dim, 2, m.round.Scale)
	if err != nil {
		return m.round.Wrap("encode", err)
	}
	e.seed = seed
	share := min(1, g.Length/g.Limit)
	e.signs[0] = uint64((1 + share) * (signUnits / 2))
	e.signs[1] = signUnits - e.signs[0]
	clear(e.vector[copy(e.vector, g.Short):])
	if g.Length == 0 {
		e.vector[0] = 1 // the two directions have equal weights
	}
	if err := m.rotation.Forward(e.vector, e.vector[:m.rotation.Dim()]); err != nil {
		return m.round.Wrap("encode", err)
	}
	setColumns(e.columns, e.vector)
	m.candidates.setOpposed(e.opposed, e.columns, seed)
	for i, sum := range e.opposed {
		e.opposed[i] = sum<<16 | uint64(i) // ties go by index
	}
	slices.Sort(e.opposed)
	for place, sum := range e.opposed {
		e.ranking[place] = uint32(sum & 0xffff)
	}
	return nil
}

// choose appends the report.
func (e *encoder) choose(dst []byte, choose exact.Chooser) []byte {
	m, k, r := e.mechanism, uint64(e.mechanism.point.Candidates), uint64(e.mechanism.point.Likely)
	opposite := choose.Weighted(e.signs[:])
	var place uint64
	if choose.Weighted([]uint64{r * m.weights.High, (k - r) * m.weights.Low}) == 0 {
		place = choose.Uniform(r)
	} else {
		place = r + choose.Uniform(k-r)
	}
	if opposite == 1 {
		place = k - 1 - place
	}
	return m.codec.Append(dst, sparse.Report{Seed: e.seed, Slot: e.ranking[place]})
}

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newVotes) }

// Guarantee implements fl.Mechanism.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne}
}

// ReportBytes implements fl.ReportSizer.
func (m *mechanism) ReportBytes() int { return m.codec.Bytes() }

// Sway implements fl.Swayer. A liar may try all seeds. The product of a fixed unit vector and d' random signs is z or more
// with a probability of at most e^(−z²/2) (Hoeffding), and there are 2^32·k candidates.
func (m *mechanism) Sway() float64 {
	z := math.Sqrt(2 * (32*math.Ln2 + math.Log(float64(m.point.Candidates)) + 6*math.Ln10))
	return m.round.Scale / m.law.slope * min(z, math.Sqrt(float64(m.point.PaddedDim())))
}

// Shuffled implements fl.Amplifier by the blanket with s = likely and t = candidates.
func (m *mechanism) Shuffled() fl.Amplification { return m.blanket }
