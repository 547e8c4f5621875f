package privunit

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/clip"
	"github.com/hushgrad/hushgrad/privacy"
)

// Name is the registered name: PrivUnitG is the member of the family PrivUnit, after which the
// package is named, that has normal noise.
const Name = "privunitg"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := cmp.Or(r.CheckLocal(), r.Params.Only()); err != nil {
		return nil, err
	}
	switch {
	case r.Epsilon < MinEpsilon:
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be at least %g", MinEpsilon)
	case r.Scale < 0x1p-60 || r.Scale > 0x1p60:
		return nil, fl.Invalid("scale", r.Scale, "must be in [2^-60, 2^60]: reports are float32")
	}
	clone, err := privacy.NewClone(r.Epsilon)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	return &mechanism{round: round, split: newSplit(r.Epsilon, r.Dim+1), clone: clone}, nil
}

type mechanism struct {
	round *count.Round
	split split
	clone *privacy.Clone
}

var (
	_ fl.ReportSizer = (*mechanism)(nil)
	_ fl.Amplifier   = (*mechanism)(nil)
)

// Encode implements fl.Mechanism. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	measured, err := clip.Measure(grad, m.round.Dim, 2, m.round.Scale)
	if err != nil {
		return dst, m.round.Wrap("encode", err)
	}
	grad = measured.Short
	perUnit, last := lift(measured)
	if rng == nil {
		rng = fl.NewRand()
	}
	// A normal vector first, in the place of the report; its last coordinate is not sent.
	start := len(dst)
	dst = slices.Grow(dst, 4*len(grad))[:start+4*len(grad)]
	report := dst[start:]
	along := rng.NormFloat64() * last
	for j, g := range grad {
		v := float32(rng.NormFloat64())
		along += float64(v) * g * perUnit
		put(report, j, v)
	}
	// Then its part along the gradient is replaced.
	size := m.round.Scale / m.split.slope()
	turn := (m.split.draw(rng) - along) * perUnit
	for j, g := range grad {
		put(report, j, float32(size*(float64(at32(report, j))+turn*g)))
	}
	return dst, nil
}

// lift returns the factor that makes the clipped gradient a vector of length at most 1, and
// the coordinate that makes its length 1.
func lift(g clip.Gradient) (perUnit, last float64) {
	if g.Length >= g.Limit {
		return 1 / g.Length, 0
	}
	length := g.Length / g.Limit
	return 1 / g.Limit, math.Sqrt((1 - length) * (1 + length))
}

func put(report []byte, j int, v float32) {
	binary.LittleEndian.PutUint32(report[4*j:], math.Float32bits(v))
}

func at32(report []byte, j int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(report[4*j:]))
}

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newSums) }

// Guarantee implements fl.Mechanism.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon, Relation: fl.ReplaceOne, RealNumbers: true}
}

// ReportBytes implements fl.ReportSizer.
func (m *mechanism) ReportBytes() int { return 4 * m.round.Dim }

// Shuffled implements fl.Amplifier by the bound for any ε-LDP randomizer.
func (m *mechanism) Shuffled() fl.Amplification { return m.clone }
