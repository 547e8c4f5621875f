package baseline

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// None is the baseline without privacy: every client sends its gradient, and the server averages
// them. A round of it shows what privacy costs.
//
// A report is the gradient's coordinates as IEEE 754 binary32, little-endian,
// 4·dim bytes. Coordinates beyond the range of binary32, ±3.4·10^38, are clipped to it, so that
// whether a client takes part does not depend on its gradient. A round must say Epsilon = +Inf, so
// that it is not opened by mistake. Sums are float64. Their last bits depend on the order of the reports.
const None = "none"

func init() { fl.Register(None, denseFactory{}) }

type denseFactory struct{}

// Open implements fl.Factory.
func (denseFactory) Open(r fl.Round) (fl.Mechanism, error) {
	if !math.IsInf(r.Epsilon, 1) {
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be +Inf: this mechanism has no privacy")
	}
	if err := r.Params.Only(); err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	return &denseMechanism{round}, nil
}

type denseMechanism struct{ round *count.Round }

var _ fl.ReportSizer = (*denseMechanism)(nil)

// Encode implements fl.Mechanism. rng is not used. O(dim).
func (m *denseMechanism) Encode(dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
	if len(grad) != m.round.Dim {
		return dst, m.round.Wrap("encode", fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", m.round.Dim))
	}
	start := len(dst)
	for j, g := range grad {
		if !finite(g) {
			return dst[:start], m.round.Wrap("encode", fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j))
		}
		clipped := float32(min(max(g, -math.MaxFloat32), math.MaxFloat32))
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(clipped))
	}
	return dst, nil
}

func (m *denseMechanism) NewAggregator() fl.Aggregator {
	return count.New(m.round, func() *denseSums {
		return &denseSums{mechanism: m, sum: make([]float64, m.round.Dim), squares: make([]float64, m.round.Dim)}
	})
}

func (m *denseMechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: math.Inf(1), Relation: fl.ReplaceOne}
}

func (m *denseMechanism) ReportBytes() int { return 4 * m.round.Dim }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// denseSums is the State of an aggregator: the sums of every coordinate of the reports, and of its squares.
type denseSums struct {
	mechanism    *denseMechanism
	sum, squares []float64
}

// coordinate returns one coordinate of a report.
func coordinate(report []byte, j int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(report[4*j:])))
}

// Read implements count.State: every 32 bits are a finite float32.
func (s *denseSums) Read(report []byte) ([]byte, error) {
	if want := s.mechanism.ReportBytes(); len(report) != want {
		return nil, count.BadReport("length", len(report), "must be 4·dim = %d bytes", want)
	}
	for j := range s.sum {
		if v := coordinate(report, j); !finite(v) {
			return nil, count.BadReport("report", v, "must be finite, coordinate %d is not", j)
		}
	}
	return report, nil
}

func (s *denseSums) Count(report []byte) {
	for j := range s.sum {
		v := coordinate(report, j)
		s.sum[j] += v
		s.squares[j] += v * v
	}
}

func (s *denseSums) Merge(other *denseSums) {
	for j := range s.sum {
		s.sum[j] += other.sum[j]
		s.squares[j] += other.squares[j]
	}
}

// Estimate has the standard error of a sample's mean: it says how much the cohort, not the noise, matters.
func (s *denseSums) Estimate(reports int64) (*fl.Estimate, error) {
	n := float64(reports)
	mean := fl.Series{Value: make([]float64, len(s.sum)), StdErr: make([]float64, len(s.sum))}
	for j, sum := range s.sum {
		v := sum / n
		mean.Value[j] = v
		mean.StdErr[j] = math.Sqrt(max(s.squares[j]/n-v*v, 0) / n)
	}
	return fl.NewEstimate(s.mechanism.round.Round, s.mechanism.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports, then sums and sums of squares as
// float64, little-endian. Their last bits depend on the order of the reports.
func (s *denseSums) Append(payload []byte, reports int64) []byte {
	payload = binary.LittleEndian.AppendUint64(slices.Grow(payload, s.MaxBytes()), uint64(reports))
	for _, v := range slices.Concat(s.sum, s.squares) {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
	}
	return payload
}

func (s *denseSums) MaxBytes() int { return 8 * (1 + 2*len(s.sum)) }

func (s *denseSums) Restore(p *count.Payload) int64 {
	reports := p.WordReports()
	most := float64(reports) * (1 + 0x1p-20) // 10^9 additions are off by less
	for j := range s.sum {
		s.sum[j] = p.Float(most * math.MaxFloat32)
	}
	for j := range s.squares {
		s.squares[j] = p.Float(most * math.MaxFloat32 * math.MaxFloat32)
	}
	return reports
}
