package privunitg

import (
	"encoding/binary"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// sums is the State of an aggregator: the sum of every coordinate of the reports.
type sums struct {
	mechanism *mechanism
	sum       []float64
}

// Read implements count.State: every 32 bits are a finite float32.
func (s *sums) Read(report []byte) ([]float32, error) {
	if want := s.mechanism.ReportBytes(); len(report) != want {
		return nil, count.BadReport("length", len(report), "must be 4·dim = %d bytes", want)
	}
	out := make([]float32, len(s.sum))
	if _, err := binary.Decode(report, binary.LittleEndian, out); err != nil {
		return nil, err
	}
	for j, v := range out {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, count.BadReport("report", v, "must be finite, coordinate %d is not", j)
		}
	}
	return out, nil
}

func (s *sums) Count(report []float32) {
	for j, v := range report {
		s.sum[j] += float64(v)
	}
}

func (s *sums) Merge(other *sums) {
	for j, v := range other.sum {
		s.sum[j] += v
	}
}

// Estimate has the standard error that is exact where the gradients are 0.
// Elsewhere the variance changes by at most (z/slope − 1)·Scale² times the squared
// coordinate in units of Scale: what that may add is added, what it may take is not taken.
func (s *sums) Estimate(reports int64) (*fl.Estimate, error) {
	m, n := s.mechanism, float64(reports)
	slope := m.split.slope()
	se := m.round.Scale * math.Sqrt((1/(slope*slope)+max(0, m.split.z/slope-1))/n)
	mean := fl.Series{Value: make([]float64, len(s.sum)), StdErr: make([]float64, len(s.sum))}
	for j, sum := range s.sum {
		mean.Value[j], mean.StdErr[j] = sum/n, se
	}
	return fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports, then the sums as float64,
// little-endian. Their last bits depend on the order of the reports.
func (s *sums) Append(payload []byte, reports int64) []byte {
	payload = binary.LittleEndian.AppendUint64(payload, uint64(reports))
	for _, v := range s.sum {
		payload = binary.LittleEndian.AppendUint64(payload, math.Float64bits(v))
	}
	return payload
}

func (s *sums) MaxBytes() int { return 8 * (1 + len(s.sum)) }

func (s *sums) Restore(p *count.Payload) int64 {
	reports := p.WordReports()
	most := float64(reports) * math.MaxFloat32 * (1 + 0x1p-20) // 10^9 additions are off by less
	for j := range s.sum {
		s.sum[j] = p.Float(most)
	}
	return reports
}
