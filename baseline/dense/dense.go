// Package dense is the baseline without privacy, registered as "none": every client sends its
// gradient, and the server averages them. Use it to see what privacy costs. Import the
// package for its effect and start with a round of the mechanism [Name].
//
// A report is the gradient's coordinates as IEEE 754 binary32, little-endian,
// 4·dim bytes. Coordinates beyond the range of binary32, ±3.4·10^38, are clipped to it, so that
// whether a client takes part does not depend on its gradient. A round must say Epsilon = +Inf, so
// that it is not opened by mistake. Sums are float64. Their last bits depend on the order of the reports.
package dense

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// Name is the registered name: what a client gets. The package is named after what it sends,
// because none.Name would read like a missing name.
const Name = "none"

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
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
	return &mechanism{round}, nil
}

type mechanism struct{ round *count.Round }

var _ fl.ReportSizer = (*mechanism)(nil)

// Encode implements fl.Mechanism. rng is not used. O(dim).
func (m *mechanism) Encode(dst []byte, grad []float64, _ *rand.Rand) ([]byte, error) {
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

func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newSums) }

func (m *mechanism) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.NoPrivacy, Epsilon: math.Inf(1), Relation: fl.ReplaceOne}
}

func (m *mechanism) ReportBytes() int { return 4 * m.round.Dim }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// sums is the State of an aggregator.
type sums struct {
	mechanism    *mechanism
	sum, squares []float64
}

func (m *mechanism) newSums() *sums {
	return &sums{mechanism: m, sum: make([]float64, m.round.Dim), squares: make([]float64, m.round.Dim)}
}

// Read implements count.State: every 32 bits are a finite float32.
func (s *sums) Read(report []byte) ([]byte, error) {
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

func (s *sums) Count(report []byte) {
	for j := range s.sum {
		v := coordinate(report, j)
		s.sum[j] += v
		s.squares[j] += v * v
	}
}

func coordinate(report []byte, j int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(report[4*j:])))
}

func (s *sums) Merge(other *sums) {
	for j := range s.sum {
		s.sum[j] += other.sum[j]
		s.squares[j] += other.squares[j]
	}
}

// Estimate implements count.State. The standard error is the standard error of a sample's mean: it
// says how much the cohort, not the noise, matters.
func (s *sums) Estimate(reports int64) (*fl.Estimate, error) {
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
// float64, little-endian.
func (s *sums) Append(payload []byte, reports int64) []byte {
	payload = binary.LittleEndian.AppendUint64(slices.Grow(payload, s.MaxBytes()), uint64(reports))
	for _, values := range [][]float64{s.sum, s.squares} {
		for _, v := range values {
			payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
		}
	}
	return payload
}

func (s *sums) MaxBytes() int { return 8 + 16*len(s.sum) }

func (s *sums) Restore(p *count.Payload) int64 {
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
