package rivals

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// sums is the State of an aggregator: it sums the sketches, with the sign of each key.
type sums struct {
	mechanism *succinctMechanism
	keys      []int64 // of Z_j·x; at most 2^31·10^9 < 2^61 in magnitude
	squares   uint128 // sum of x²
}

func (m *succinctMechanism) newSums() *sums {
	return &sums{mechanism: m, keys: make([]int64, m.round.Dim)}
}

func (s *sums) Read(report []byte) (sketch, error) { return s.mechanism.codec.parse(report) }

// Count implements count.State. O(dim).
func (s *sums) Count(r sketch) {
	h := s.mechanism.hash
	start := h.start(r.seed)
	for j := range s.keys {
		s.keys[j] += r.sum * h.sign(start, uint32(j))
	}
	s.squares = s.squares.plus(uint128{lo: uint64(r.sum * r.sum)})
}

func (s *sums) Merge(other *sums) {
	for j, v := range other.keys {
		s.keys[j] += v
	}
	s.squares = s.squares.plus(other.squares)
}

// Estimate implements count.State: the mean is all that the reports show. The variance
// of one report's estimate is at most E[x²]/share, plus 1/share − 1 because the reports
// that know a key have one entry more than the average: E[x²] is estimated, and is
// at least the variance of the noise. O(dim).
func (s *sums) Estimate(reports int64) (*fl.Estimate, error) {
	m := s.mechanism
	n, share, scale := float64(reports), m.hash.share(), m.round.Scale
	square := max(s.squares.float()/n, m.noise.Variance())
	stderr := scale * math.Sqrt((square+1-share)/share/n)
	mean := fl.Series{Value: make([]float64, len(s.keys)), StdErr: make([]float64, len(s.keys))}
	for j, sum := range s.keys {
		mean.Value[j], mean.StdErr[j] = scale*(float64(sum)/n/share), stderr
	}
	return fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports and the sum of squares, high and low
// 64 bits, as uvarints, and then the sums as varints.
func (s *sums) Append(payload []byte, reports int64) []byte {
	payload = slices.Grow(payload, 24+4*len(s.keys))
	for _, v := range []uint64{uint64(reports), s.squares.hi, s.squares.lo} {
		payload = binary.AppendUvarint(payload, v)
	}
	for _, v := range s.keys {
		payload = binary.AppendVarint(payload, v)
	}
	return payload
}

func (s *sums) MaxBytes() int { return (3 + len(s.keys)) * binary.MaxVarintLen64 }

func (s *sums) Restore(p *count.Payload) int64 {
	reports, limit := p.Reports(), s.mechanism.codec.limit()
	s.squares.hi, s.squares.lo = p.Uvarint(math.MaxUint64), p.Uvarint(math.MaxUint64)
	hi, lo := bits.Mul64(uint64(limit*limit), uint64(reports))
	if s.squares.hi > hi || s.squares.hi == hi && s.squares.lo > lo {
		p.Refuse("squares", s.squares.float(), "must be at most %d for each of %d reports", limit*limit, reports)
	}
	for j := range s.keys {
		s.keys[j] = p.Varint(-reports*limit, reports*limit)
	}
	return reports
}

type uint128 struct{ hi, lo uint64 }

func (u uint128) plus(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	return uint128{hi: u.hi + v.hi + carry, lo: lo}
}

func (u uint128) float() float64 { return math.Ldexp(float64(u.hi), 64) + float64(u.lo) }
