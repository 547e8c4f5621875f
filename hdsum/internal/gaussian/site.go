package gaussian

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// site is the mechanism of clients that add the whole noise themselves in one round, with Round.Scale as the clip norm.
type site struct {
	*vectors
	ring ring
}

var (
	_ fl.RecordMechanism = (*site)(nil)
	_ fl.ReportSizer     = (*site)(nil)
)

func newSite(r fl.Round) (*site, error) {
	if r.Relation != fl.ReplaceOne {
		return nil, fl.Invalid("relation", r.Relation, "must be %s: this mechanism is local", fl.ReplaceOne)
	}
	v, err := newVectors(r, fine)
	if err != nil {
		return nil, err
	}
	s := &site{vectors: v}
	s.ring, err = v.ring(v.reports())
	return s, err
}

// Encode implements fl.Mechanism. Expected time O(d' log d').
func (s *site) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	x, err := s.integers.of(grad, rng)
	if err != nil {
		return dst, s.round.Wrap("encode", err)
	}
	return s.report(dst, x, 1, rng), nil
}

// NewRecordSum implements fl.RecordMechanism.
func (s *site) NewRecordSum(rng *rand.Rand) (fl.RecordSum, error) {
	return s.newRecordSum(rng, s.report)
}

// report appends the number of records, in a round about them, and their sum with the noise.
func (s *site) report(dst []byte, x []int64, records int64, rng *rand.Rand) []byte {
	if s.records > 0 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(records))
	}
	noisy := make([]uint64, len(x))
	for i, v := range x {
		noisy[i] = uint64(v + s.noise.draw(rng))
	}
	return s.ring.pack(dst, noisy)
}

// Guarantee implements fl.Mechanism. It holds against everybody who sees the report.
func (s *site) Guarantee() fl.Guarantee {
	return fl.Guarantee{Trust: fl.Local, Epsilon: s.round.Epsilon, Delta: s.round.Delta, Relation: s.round.Relation, Sigma: s.multiplier(s.noise.sigma)}
}

// ReportBytes implements fl.ReportSizer.
func (s *site) ReportBytes() int { return s.head() + s.ring.bytes() }

// StandardError is the standard error of a coordinate of the mean of vectors that arrive in a number of reports.
func (s *site) StandardError(vectors, reports int) float64 {
	return s.standardError(int64(vectors), int64(reports), int64(reports))
}

// NewAggregator implements fl.Mechanism.
func (s *site) NewAggregator() fl.Aggregator {
	return count.New(s.round, func() *noisy { return &noisy{site: s, sum: masks{s.ring}.newSum()} })
}

// noisy is the sum of noisy vectors.
type noisy struct {
	site    *site
	sum     sum
	records int64
}

var _ count.State[[]byte, *noisy] = (*noisy)(nil)

// Read implements count.State.
func (n *noisy) Read(report []byte) ([]byte, error) {
	s := n.site
	if want := s.ReportBytes(); len(report) != want {
		return nil, count.BadReport("report", fmt.Sprintf("%d bytes", len(report)), "must have %d", want)
	}
	if !s.ring.wellFormed(report[s.head():]) {
		return nil, count.BadReport("report", fmt.Sprintf("last byte %#x", report[len(report)-1]), "must end with zeros behind %d numbers of %d bits", s.ring.length, s.ring.bits)
	}
	return report, s.checkRecords(report)
}

// Count implements count.State. O(d').
func (n *noisy) Count(report []byte) {
	n.sum.add(report[n.site.head():])
	n.records += n.site.recordsOf(report)
}

// Merge implements count.State.
func (n *noisy) Merge(other *noisy) {
	n.sum.merge(other.sum)
	n.records += other.records
}

// Estimate implements count.State. O(d' log d').
func (n *noisy) Estimate(reports int64) (*fl.Estimate, error) {
	return n.site.estimate(n.sum, reports, n.records, reports, n.site.Guarantee())
}

// Append implements count.State: the number of reports as an uvarint, in a round about records their number as another one, and the
// packed sums.
func (n *noisy) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(payload, uint64(reports))
	if n.site.records > 0 {
		payload = binary.AppendUvarint(payload, uint64(n.records))
	}
	return n.sum.pack(payload)
}

// MaxBytes implements count.State.
func (n *noisy) MaxBytes() int { return 2*binary.MaxVarintLen64 + n.site.ring.bytes() }

// Restore implements count.State.
func (n *noisy) Restore(p *count.Payload) (reports int64) {
	reports = p.Reports()
	if n.site.records > 0 {
		if n.records = int64(p.Uvarint(maxTotal)); p.OK() && n.records < reports {
			p.Refuse(fl.ParamRecords, n.records, "must be at least one a report, %d", reports)
		}
	}
	if !p.OK() {
		return 0
	}
	sums := p.Rest()
	if !n.sum.add(sums) {
		p.Refuse("sums", fmt.Sprintf("%d bytes", len(sums)), "must be %d bytes, unused bits 0", n.site.ring.bytes())
		return 0
	}
	return reports
}
