package fltest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// toy is a small mechanism with every optional interface: Warner's randomized response on
// the sign of one coordinate. It draws a coordinate j, rounds its value v in [−1, 1] to +1
// with probability (1+v)/2 and else to −1, and turns that round with probability 1/(e^ε+1).
// The menu of tiers is ε/2 and ε. A report is the tier, the coordinate and the sign, 0 for
// −1: three bytes. A product would use integers for its probabilities.
type toy struct {
	round  fl.Round
	digest [32]byte
}

const toySparsity = 2 // of the vectors that EncodeTernary takes

type toyFactory struct{}

func (toyFactory) Columns() []string { return []string{fl.ColumnPlus, fl.ColumnMinus} }

func (toyFactory) Open(r fl.Round) (fl.Mechanism, error) {
	if err := r.CheckLocal(); err != nil {
		return nil, err
	}
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	return newToy(r)
}

func newToy(r fl.Round) (*toy, error) {
	if r.Dim > 256 {
		return nil, fl.Invalid("dim", r.Dim, "must be at most 256")
	}
	digest, err := r.Digest()
	return &toy{round: r, digest: digest}, err
}

// gain is the number by which a tier's answers are multiplied: e^ε+1 over e^ε−1.
func (m *toy) gain(tier int) float64 { return 1 / math.Tanh(m.Tiers()[tier].Epsilon/2) }

func (m *toy) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return m.EncodeTier(dst, 0, grad, rng)
}

func (m *toy) EncodeFloat32(dst []byte, grad []float32, rng *rand.Rand) ([]byte, error) {
	wide := make([]float64, len(grad))
	for j, v := range grad {
		wide[j] = float64(v)
	}
	return m.Encode(dst, wide, rng)
}

func (m *toy) EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if tier < 0 || tier >= len(m.Tiers()) {
		return dst, fl.Invalid("tier", tier, "must be on the menu")
	}
	if len(grad) != m.round.Dim {
		return dst, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.round.Dim)
	}
	for _, v := range grad {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, fl.Invalid("gradient", v, "must be finite")
		}
	}
	if rng == nil {
		rng = fl.NewRand()
	}
	j := rng.IntN(len(grad))
	sign := byte(0)
	if v := min(max(grad[j]/m.round.Scale, -1), 1); rng.Float64() < (1+v)/2 {
		sign = 1
	}
	if rng.Float64() < (1-1/m.gain(tier))/2 {
		sign = 1 - sign
	}
	return append(dst, byte(tier), byte(j), sign), nil
}

func (m *toy) EncodeKeyValues(dst []byte, pairs []fl.KeyValue, rng *rand.Rand) ([]byte, error) {
	if err := fl.CheckKeyValues(pairs, m.round.Dim); err != nil {
		return dst, err
	}
	grad := make([]float64, m.round.Dim)
	for _, p := range pairs {
		grad[p.Key] = p.Value * m.round.Scale
	}
	return m.Encode(dst, grad, rng)
}

func (m *toy) EncodeTernary(dst []byte, x fl.Ternary, rng *rand.Rand) ([]byte, error) {
	if err := x.Validate(m.round.Dim, toySparsity); err != nil {
		return dst, err
	}
	if x.Index[0] == x.Index[1] {
		return dst, fl.Invalid("ternary.index", x.Index[0], "must be listed once")
	}
	grad := make([]float64, m.round.Dim)
	for i, j := range x.Index {
		if int(j) < m.round.Dim {
			grad[j] = float64(x.Sign[i]) * m.round.Scale
		}
	}
	return m.Encode(dst, grad, rng)
}

func (m *toy) Tiers() []fl.Guarantee {
	strict, loose := m.Guarantee(), m.Guarantee()
	loose.Epsilon = m.round.Epsilon
	return []fl.Guarantee{strict, loose}
}

func (m *toy) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: m.round.Epsilon / 2, Relation: fl.ReplaceOne}
}

func (m *toy) ReportBytes() int           { return 3 }
func (m *toy) Cost() fl.Cost              { return fl.Cost{Messages: 1, Bytes: 3} }
func (m *toy) Advice() []string           { return []string{"a toy"} }
func (m *toy) Shuffled() fl.Amplification { return localBound(m.round.Epsilon / 2) }
func (m *toy) NewAggregator() fl.Aggregator {
	return &toyAggregator{toy: m, Counts: [2][]int64{make([]int64, m.round.Dim), make([]int64, m.round.Dim)}}
}

// localBound is what local privacy alone promises of shuffled reports.
type localBound float64

func (b localBound) Epsilon(n int, delta float64) (float64, error) {
	if n < 2 || !(delta > 0 && delta < 1) {
		return 0, fl.Invalid("clients", n, "must be at least 2, and delta in (0, 1)")
	}
	return float64(b), nil
}

func (b localBound) Delta(n int, epsilon float64) (float64, error) {
	if n < 2 || !(epsilon >= 0) {
		return 0, fl.Invalid("clients", n, "must be at least 2, and epsilon at least 0")
	}
	if epsilon >= float64(b) {
		return 0, nil
	}
	return 1, nil
}

// toyAggregator sums the signs of each tier.
type toyAggregator struct {
	*toy
	Reports [2]int64
	Counts  [2][]int64
}

func (a *toyAggregator) check(report []byte) error {
	if len(report) != 3 || report[0] > 1 || int(report[1]) >= a.round.Dim || report[2] > 1 {
		return fmt.Errorf("toy: %w: %x", fl.ErrBadReport, report)
	}
	return nil
}

func (a *toyAggregator) count(report []byte) {
	a.Reports[report[0]]++
	a.Counts[report[0]][report[1]] += 2*int64(report[2]) - 1
}

func (a *toyAggregator) Add(report []byte) error {
	if err := a.check(report); err != nil {
		return err
	}
	a.count(report)
	return nil
}

func (a *toyAggregator) AddBatch(reports [][]byte) error {
	for i, report := range reports {
		if err := a.check(report); err != nil {
			return &fl.BatchError{Index: i, Err: err}
		}
	}
	for _, report := range reports {
		a.count(report)
	}
	return nil
}

func (a *toyAggregator) Merge(other fl.Aggregator) error {
	o, ok := other.(*toyAggregator)
	if !ok || o.digest != a.digest {
		return fl.Invalid("other", fmt.Sprintf("%T", other), "must belong to the same round")
	}
	for tier := range a.Counts {
		a.Reports[tier] += o.Reports[tier]
		for j, c := range o.Counts[tier] {
			a.Counts[tier][j] += c
		}
	}
	return nil
}

// Estimate weighs the tiers by the inverse of their variances.
func (a *toyAggregator) Estimate() (*fl.Estimate, error) {
	n := a.Reports[0] + a.Reports[1]
	if err := a.round.CheckReports(n); err != nil {
		return nil, fmt.Errorf("toy: %w", err)
	}
	d := float64(a.round.Dim)
	precision := 0.0 // of a coordinate, in units of Scale
	for tier, reports := range a.Reports {
		precision += float64(reports) / (d * a.gain(tier) * a.gain(tier))
	}
	mean := fl.Series{Value: make([]float64, a.round.Dim), StdErr: make([]float64, a.round.Dim)}
	plus, minus := fl.Series{Value: make([]float64, a.round.Dim)}, fl.Series{Value: make([]float64, a.round.Dim)}
	for j := range mean.Value {
		v := 0.0
		for tier := range a.Counts {
			v += float64(a.Counts[tier][j]) / a.gain(tier) / precision
		}
		mean.Value[j], mean.StdErr[j] = v*a.round.Scale, a.round.Scale/math.Sqrt(precision)
		plus.Value[j], minus.Value[j] = (1+v)/2, (1-v)/2
	}
	e := fl.NewEstimate(a.round, a.Guarantee(), n, mean)
	for _, name := range a.round.Columns {
		e.Columns = append(e.Columns, fl.Column{Name: name, Series: map[string]fl.Series{fl.ColumnPlus: plus, fl.ColumnMinus: minus}[name]})
	}
	for tier, g := range a.Tiers() {
		weight := float64(a.Reports[tier]) / (d * a.gain(tier) * a.gain(tier)) / precision
		e.Tiers = append(e.Tiers, fl.TierEstimate{Guarantee: g, Reports: a.Reports[tier], Weight: weight})
		if a.Reports[tier] > 0 {
			e.Guarantee = g
		}
	}
	return e, nil
}

func (a *toyAggregator) MarshalBinary() ([]byte, error) {
	return binary.Append(bytes.Clone(a.digest[:]), binary.LittleEndian, append(append(a.Reports[:], a.Counts[0]...), a.Counts[1]...))
}

func (a *toyAggregator) UnmarshalBinary(data []byte) error {
	numbers := make([]int64, 2+2*a.round.Dim)
	if len(data) != 32+8*len(numbers) || !bytes.Equal(data[:32], a.digest[:]) {
		return fl.Invalid("snapshot", len(data), "must be one of this round")
	}
	if _, err := binary.Decode(data[32:], binary.LittleEndian, numbers); err != nil {
		return err
	}
	a.Reports = [2]int64(numbers)
	a.Counts = [2][]int64{numbers[2 : 2+a.round.Dim], numbers[2+a.round.Dim:]}
	return nil
}
