package shares

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/rotation"
)

// mechanism is the mechanism of one round, with Round.Scale as the clip norm.
type mechanism struct {
	round    *count.Round
	records  int64 // the most of all clients, or 0 where reports are about clients
	integers *integers
	noise    noise
	ring     ring
}

var (
	_ fl.SharedMechanism = (*mechanism)(nil)
	_ fl.RecordMechanism = (*mechanism)(nil)
	_ fl.ReportSizer     = (*mechanism)(nil)
)

func newMechanism(r fl.Round) (m *mechanism, err error) {
	if err := checkRound(r); err != nil {
		return nil, err
	}
	m = &mechanism{}
	if m.records, err = readRecords(r.Params); err != nil {
		return nil, err
	}
	if m.round, err = count.NewRound(r); err != nil {
		return nil, err
	}
	if m.integers, err = newIntegers(r); err != nil {
		return nil, err
	}
	dim := m.integers.rotation.PaddedDim()
	if m.noise, err = newNoise(r, dim, m.integers.sensitivity(r.Relation)); err != nil {
		return nil, err
	}
	m.ring, err = newRing(dim, m.largest(m.capacity()))
	return m, err
}

// largest bounds the absolute value of every coordinate of the sum of a number of honest vectors and of both servers'
// noise, except with probability 2^−40.
func (m *mechanism) largest(vectors int64) float64 {
	dim := m.integers.rotation.PaddedDim()
	each := rotation.Bound(m.integers.units/math.Sqrt(float64(dim)), dim, int(vectors), 0x1p-40)
	return float64(vectors)*(math.Ceil(each)+1) + math.Ceil(12*math.Sqrt2*m.noise.sigma) + 2
}

// Encode implements fl.Mechanism. A report is both shares, the first server's first:
// whoever reads it reads the gradient.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	first, second, err := m.EncodeShares(dst, nil, grad, rng)
	return append(first, second...), err
}

// EncodeShares implements fl.SharedMechanism. Expected time O(d' log d').
func (m *mechanism) EncodeShares(first, second []byte, grad []float64, rng *rand.Rand) ([]byte, []byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := m.integers.of(grad, rng)
	if err != nil {
		return first, second, fmt.Errorf("%s: encode: %w", Name, err)
	}
	first, second = m.split(first, second, x, 1, rng)
	return first, second, nil
}

// split appends the two shares of a vector, the sum of a number of records.
func (m *mechanism) split(first, second []byte, x []int64, records int64, rng *rand.Rand) ([]byte, []byte) {
	if m.records > 0 {
		first = binary.LittleEndian.AppendUint32(first, uint32(records))
		second = binary.LittleEndian.AppendUint32(second, uint32(records))
	}
	start := len(first)
	for range seedBytes / 8 {
		first = binary.LittleEndian.AppendUint64(first, rng.Uint64())
	}
	mask := m.ring.expand(first[start:])
	y := make([]uint64, len(x))
	for i, v := range x {
		y[i] = uint64(v) - m.ring.at(mask, i)
	}
	return first, m.ring.pack(second, y)
}

// Guarantee implements fl.Mechanism. It holds against either server, whatever that server and the other clients do, as long
// as the other server is honest. It does not hold against a party that reads both shares.
func (m *mechanism) Guarantee() fl.Guarantee {
	sigma := m.noise.sigma / m.integers.sensitivity(m.round.Relation) * (1 - 0x1p-48)
	return fl.Guarantee{Trust: fl.TwoServers, Epsilon: m.round.Epsilon, Delta: m.round.Delta, Relation: m.round.Relation, Sigma: sigma}
}

// ReportBytes implements fl.ReportSizer, for both shares together.
func (m *mechanism) ReportBytes() int {
	return m.ShareBytes(fl.FirstServer) + m.ShareBytes(fl.SecondServer)
}

// ShareBytes implements fl.SharedMechanism.
func (m *mechanism) ShareBytes(side fl.ShareSide) int {
	switch side {
	case fl.FirstServer:
		return m.head() + seedBytes
	case fl.SecondServer:
		return m.head() + m.ring.bytes()
	}
	return 0
}

// StandardError is the standard error of a coordinate of the mean of a number of reports, or of records.
func (m *mechanism) StandardError(reports int) float64 {
	return m.integers.deviation(m.variance(float64(reports))) / float64(reports)
}

// variance is a coordinate's, of the sum of n vectors with both servers' noise: every vector's rounding has a variance of at
// most 1/4.
func (m *mechanism) variance(n float64) float64 { return 2*m.noise.variance() + n/4 }

// estimate decodes the sum of both servers' releases.
func (m *mechanism) estimate(t *total, reports int64) (*fl.Estimate, error) {
	if err := m.round.CheckReports(reports); err != nil {
		return nil, err
	}
	vectors, what := reports, "reports"
	if m.records > 0 {
		vectors, what = t.records, ParamRecords
	}
	if most := m.capacity(); vectors > most {
		return nil, fl.Invalid(what, vectors, "must be at most %d", most)
	}
	sum := make([]float64, len(t.sums))
	for i, v := range t.sums {
		sum[i] = float64(m.ring.signed(v + 1)) // each server has rounded its noise down, by ½ on average
	}
	value, err := m.integers.back(sum)
	if err != nil {
		return nil, err
	}
	n, stdErr := float64(vectors), m.StandardError(int(vectors))
	mean := fl.Series{Value: value, StdErr: make([]float64, len(value))}
	for i := range value {
		mean.Value[i] /= n
		mean.StdErr[i] = stdErr
	}
	e := fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean)
	e.Records = t.records
	return e, nil
}
