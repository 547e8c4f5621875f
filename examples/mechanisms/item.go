package mechanisms

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

func init() { fl.Register("example-item", itemFactory{}) }

// item draws a coordinate, and reports it with its sign: one of 2·dim items. The true sign has the integer weight
// High and the other one Low, with High/Low ≤ e^ε, so that no report says more than ε of any gradient.
type item struct{ *votes }

type itemFactory struct{}

func (itemFactory) Open(r fl.Round) (fl.Mechanism, error) {
	round, err := open(r)
	if err != nil {
		return nil, err
	}
	w, err := exact.NewWeights(r.Epsilon, 1, 2)
	if err != nil {
		return nil, err
	}
	gain := float64(r.Dim) * float64(w.Total) / float64(w.High-w.Low)
	return item{&votes{round: round, weights: w, gain: gain, variance: gain * gain / float64(r.Dim)}}, nil
}

func (m item) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if err := m.check(grad); err != nil {
		return dst, err
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	return binary.LittleEndian.AppendUint32(dst, m.draw(grad, exact.Rand{Rand: rng})), nil
}

// draw takes every random decision from choose, so that a test can enumerate them all.
func (m item) draw(grad []float64, choose exact.Chooser) uint32 {
	j := choose.Uniform(uint64(m.round.Dim))
	plus := m.sign(grad[j], choose)
	if choose.Weighted([]uint64{m.weights.High, m.weights.Low}) == 1 {
		plus = !plus
	}
	if plus {
		return uint32(2*j + 1)
	}
	return uint32(2 * j)
}

func (m item) ReportBytes() int { return 4 }

func (m item) NewAggregator() fl.Aggregator { return m.aggregator(m.read) }

func (m item) read(report []byte) ([]int8, error) {
	if len(report) != 4 {
		return nil, count.BadReport("length", len(report), "must be 4 bytes")
	}
	i := binary.LittleEndian.Uint32(report)
	if int64(i) >= int64(2*m.round.Dim) {
		return nil, count.BadReport("item", i, "must be below 2·dim = %d", 2*m.round.Dim)
	}
	out := make([]int8, m.round.Dim)
	out[i/2] = 2*int8(i%2) - 1
	return out, nil
}
