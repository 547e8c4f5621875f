package integers

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// sums is the State of an aggregator: the sum of every coordinate of the reports, below 2^45
// for fl.MaxReports of them.
type sums struct {
	mechanism *Mechanism
	sum       []int64
}

// Read implements count.State: every 16 bits are an integer.
func (s *sums) Read(report []byte) ([]byte, error) {
	if want := s.mechanism.ReportBytes(); len(report) != want {
		return nil, count.BadReport("length", len(report), "must be 2·dim = %d bytes", want)
	}
	return report, nil
}

func (s *sums) Count(report []byte) {
	for j := range s.sum {
		s.sum[j] += int64(int16(binary.LittleEndian.Uint16(report[2*j:])))
	}
}

func (s *sums) Merge(other *sums) {
	for j, v := range other.sum {
		s.sum[j] += v
	}
}

// Estimate implements count.State. The variance of a report is public, and so is the
// standard error.
func (s *sums) Estimate(reports int64) (*fl.Estimate, error) {
	m, n := s.mechanism, float64(reports)
	mean := fl.Series{Value: make([]float64, len(s.sum)), StdErr: make([]float64, len(s.sum))}
	se := m.law.Step * math.Sqrt(m.law.Variance/n)
	for j, sum := range s.sum {
		mean.Value[j] = m.law.Step * (float64(sum)/n + 0.5)
		mean.StdErr[j] = se
	}
	return fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports as a uvarint, then the sums as
// varints. They are integers: the bytes do not depend on how the reports were split or
// ordered.
func (s *sums) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(slices.Grow(payload, 8+4*len(s.sum)), uint64(reports))
	for _, v := range s.sum {
		payload = binary.AppendVarint(payload, v)
	}
	return payload
}

func (s *sums) MaxBytes() int { return (1 + len(s.sum)) * binary.MaxVarintLen64 }

func (s *sums) Restore(p *count.Payload) int64 {
	reports := p.Reports()
	for j := range s.sum {
		s.sum[j] = p.Varint(math.MinInt16*reports, math.MaxInt16*reports)
	}
	return reports
}
