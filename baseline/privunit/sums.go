package privunit

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// sums is the State of an aggregator: the sum of every coordinate of the reports.
type sums struct {
	mechanism *mechanism
	sum       []float64
}

func (m *mechanism) newSums() *sums {
	return &sums{mechanism: m, sum: make([]float64, m.round.Dim)}
}

// Read implements count.State: every 32 bits are a finite float32.
func (s *sums) Read(report []byte) ([]byte, error) {
	if want := s.mechanism.ReportBytes(); len(report) != want {
		return nil, count.BadReport("length", len(report), "must be 4·dim = %d bytes", want)
	}
	const exponent = 0xff << 23 // all ones in NaN and Inf
	for j := range s.sum {
		if binary.LittleEndian.Uint32(report[4*j:])&exponent == exponent {
			return nil, count.BadReport("report", at32(report, j), "must be finite, coordinate %d is not", j)
		}
	}
	return report, nil
}

func (s *sums) Count(report []byte) {
	for j := range s.sum {
		s.sum[j] += float64(at32(report, j))
	}
}

func (s *sums) Merge(other *sums) {
	for j, v := range other.sum {
		s.sum[j] += v
	}
}

// Estimate implements count.State. The standard error is exact where the gradients are 0.
// Elsewhere the variance changes by at most (z/slope − 1)·Scale² times the squared
// coordinate in units of Scale: what that may add is added, what it may take is not taken.
func (s *sums) Estimate(reports int64) (*fl.Estimate, error) {
	n, split := float64(reports), s.mechanism.split
	variance := 1/(split.slope()*split.slope()) + max(0, split.z/split.slope()-1)
	se := s.mechanism.round.Scale * math.Sqrt(variance/n)
	mean := fl.Series{Value: make([]float64, len(s.sum)), StdErr: make([]float64, len(s.sum))}
	for j, sum := range s.sum {
		mean.Value[j], mean.StdErr[j] = sum/n, se
	}
	return fl.NewEstimate(s.mechanism.round.Round, s.mechanism.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports, then the sums as float64,
// little-endian. Their last bits depend on the order of the reports.
func (s *sums) Append(payload []byte, reports int64) []byte {
	payload = binary.LittleEndian.AppendUint64(slices.Grow(payload, s.MaxBytes()), uint64(reports))
	for _, v := range s.sum {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
	}
	return payload
}

func (s *sums) MaxBytes() int { return 8 + 8*len(s.sum) }

func (s *sums) Restore(p *count.Payload) int64 {
	reports := p.WordReports()
	most := float64(reports) * math.MaxFloat32 * (1 + 0x1p-20) // 10^9 additions are off by less
	for j := range s.sum {
		s.sum[j] = p.Float(most)
	}
	return reports
}
