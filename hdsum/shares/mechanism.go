package shares

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/hdsum/internal/quantize"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// mechanism is the mechanism of one round, with Round.Scale as the clip norm and Round.MinReports as
// the number of clients over which the noise is spread.
type mechanism struct {
	round     *count.Round
	quantizer *quantize.Quantizer
	noise     sample.Clusters
	ring      ring
}

var (
	_ fl.SharedMechanism = (*mechanism)(nil)
	_ fl.ReportSizer     = (*mechanism)(nil)
)

func newMechanism(r fl.Round) (m *mechanism, err error) {
	m = &mechanism{}
	if m.round, err = count.NewRound(r); err != nil {
		return nil, err
	}
	if m.quantizer, err = quantizer(r); err != nil {
		return nil, err
	}
	dim, levels := m.quantizer.Rotation().PaddedDim(), m.quantizer.Levels()
	if m.noise, err = calibrate(r, dim, levels); err != nil {
		return nil, err
	}
	m.ring, err = newRing(dim, largest(m.noise, levels, capacity(r)))
	return m, err
}

// Encode implements fl.Mechanism. A report is both shares, the first server's first:
// whoever reads it reads the gradient.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	first, second, err := m.EncodeShares(dst, nil, grad, rng)
	return append(first, second...), err
}

// EncodeShares implements fl.SharedMechanism. Expected time O(d' log d' + B·d'/MinReports), B below 60
// the number of sample.Clusters.Blocks.
func (m *mechanism) EncodeShares(first, second []byte, grad []float64, rng *rand.Rand) ([]byte, []byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	y, err := m.noisy(grad, rng)
	if err != nil {
		return first, second, fmt.Errorf("%s: encode: %w", Name, err)
	}
	start := len(first)
	for range seedBytes / 8 {
		first = binary.LittleEndian.AppendUint64(first, rng.Uint64())
	}
	mask := m.ring.expand(first[start:])
	for i := range y {
		y[i] -= m.ring.at(mask, i)
	}
	return first, m.ring.pack(second, y), nil
}

// noisy returns the quantized gradient with one client's noise, modulo 2^64.
func (m *mechanism) noisy(grad []float64, rng *rand.Rand) ([]uint64, error) {
	x, err := m.quantizer.Quantize(grad, rng)
	if err != nil {
		return nil, err
	}
	y := make([]uint64, len(x))
	for i, v := range x {
		y[i] = uint64(v)
	}
	m.noise.Rand(rng, func(variable int, size int64) {
		if variable%2 == 1 {
			size = -size
		}
		y[variable/2] += uint64(size)
	})
	return y, nil
}

// Guarantee implements fl.Mechanism. It holds for a client that sends its shares to two servers
// that follow the protocol. It does not hold against a party that reads both shares, nor against a server
// that makes up reports.
func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.TwoServers, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: m.round.Relation}
}

// ReportBytes implements fl.ReportSizer, for both shares together.
func (m *mechanism) ReportBytes() int {
	return m.ShareBytes(fl.FirstServer) + m.ShareBytes(fl.SecondServer)
}

// ShareBytes implements fl.SharedMechanism.
func (m *mechanism) ShareBytes(side fl.ShareSide) int {
	switch side {
	case fl.FirstServer:
		return seedBytes
	case fl.SecondServer:
		return m.ring.bytes()
	}
	return 0
}

// estimate decodes the sum of both servers' sums.
func (m *mechanism) estimate(t *total) (*fl.Estimate, error) {
	// Fewer reports than the noise was spread over would reveal too much.
	if err := m.round.CheckReports(t.reports); err != nil {
		return nil, err
	}
	if most := capacity(m.round.Round); t.reports > most {
		return nil, fl.Invalid("reports", t.reports, "must be at most %d", most)
	}
	sum := make([]float64, len(t.sums))
	for i, v := range t.sums {
		sum[i] = float64(m.ring.signed(v))
	}
	// More reports than MinReports bring noise in proportion, and every report's rounding
	// has a variance of at most 1/4.
	n := float64(t.reports)
	variance := sample.DiscreteLaplace{Eta: m.noise.Eta}.Variance()*n/float64(m.round.MinReports) + n/4
	value, stdErr, err := m.quantizer.Dequantize(sum, variance)
	if err != nil {
		return nil, err
	}
	mean := fl.Series{Value: value, StdErr: make([]float64, len(value))}
	for i := range value {
		mean.Value[i] /= n
		mean.StdErr[i] = stdErr / n
	}
	return fl.NewEstimate(m.round.Round, m.Guarantee(), t.reports, mean), nil
}
