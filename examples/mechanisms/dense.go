package mechanisms

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/fl/exact"
)

func init() { fl.Register("example-dense", denseFactory{}) }

// dense reports the sign of every coordinate, one bit each. Every sign has its share ε/dim of the budget, so that
// it is for few coordinates.
type dense struct{ *votes }

type denseFactory struct{}

func (denseFactory) Open(r fl.Round) (fl.Mechanism, error) {
	round, err := open(r)
	if err != nil {
		return nil, err
	}
	w, err := exact.NewWeights(r.Epsilon/float64(r.Dim), 1, 2)
	if err != nil {
		return nil, err
	}
	gain := float64(w.Total) / float64(w.High-w.Low)
	return dense{&votes{round: round, weights: w, gain: gain, variance: gain * gain}}, nil
}

func (m dense) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if err := m.check(grad); err != nil {
		return dst, err
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	choose := exact.Rand{Rand: rng}
	report := make([]byte, m.ReportBytes())
	for j, g := range grad {
		if m.sign(g, choose) == (choose.Weighted([]uint64{m.weights.High, m.weights.Low}) == 0) {
			report[j/8] |= 1 << (j % 8)
		}
	}
	return append(dst, report...), nil
}

func (m dense) ReportBytes() int { return (m.round.Dim + 7) / 8 }

func (m dense) NewAggregator() fl.Aggregator { return m.aggregator(m.read) }

func (m dense) read(report []byte) ([]int8, error) {
	if len(report) != m.ReportBytes() {
		return nil, count.BadReport("length", len(report), "must be %d bytes", m.ReportBytes())
	}
	if used := m.round.Dim % 8; used > 0 && report[len(report)-1]>>used != 0 {
		return nil, count.BadReport("report", report[len(report)-1], "must have no bit beyond the last coordinate")
	}
	out := make([]int8, m.round.Dim)
	for j := range out {
		out[j] = 2*int8(report[j/8]>>(j%8)&1) - 1
	}
	return out, nil
}
