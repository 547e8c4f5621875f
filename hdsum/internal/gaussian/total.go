package gaussian

import (
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/internal/idset"
)

// total is what was added up. It implements count.State for reports of both
// shares: an aggregator is both servers in one.
type total struct {
	mechanism *mechanism
	sum       sum
	records   int64 // behind them, or 0 where reports are about clients
	// seeds is the exclusive or of the first shares, where there are both shares: 32 bytes that nobody knows who lacks one
	// of them. The noise of both servers in one comes from it, so that an estimate is the same however often it is asked for.
	seeds [seedBytes]byte
}

var _ count.State[[]byte, *total] = (*total)(nil)

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator { return count.New(m.round, m.newTotal) }

func (m *mechanism) newTotal() *total {
	return &total{mechanism: m, sum: m.sharing.newSum()}
}

// Read implements count.State.
func (t *total) Read(report []byte) ([]byte, error) {
	if want := t.mechanism.ReportBytes(); len(report) != want {
		return nil, count.BadReport("report", fmt.Sprintf("%d bytes", len(report)), "must have %d", want)
	}
	m, head := t.mechanism, t.mechanism.ShareBytes(fl.FirstServer)
	if err := m.checkShare(fl.FirstServer, report[:head]); err != nil {
		return nil, err
	}
	if err := m.checkShare(fl.SecondServer, report[head:]); err != nil {
		return nil, err
	}
	if first, second := m.recordsOf(report), m.recordsOf(report[head:]); first != second {
		return nil, count.BadReport(fl.ParamRecords, fmt.Sprint(second), "must be the first share's, %d", first)
	}
	return report, nil
}

// Count implements count.State. O(d').
func (t *total) Count(report []byte) {
	head := t.mechanism.ShareBytes(fl.FirstServer)
	_ = t.add(fl.FirstServer, report[:head]) // Read has checked both
	_ = t.add(fl.SecondServer, report[head:])
	t.records += t.mechanism.recordsOf(report)
	subtle.XORBytes(t.seeds[:], t.seeds[:], report[head-seedBytes:head])
}

// add adds a share of the right length. O(d').
func (t *total) add(side fl.ShareSide, share []byte) error {
	vector, err := t.mechanism.sharing.open(side, share[t.mechanism.head():])
	if err == nil {
		t.sum.add(vector)
	}
	return err
}

// Merge implements count.State.
func (t *total) Merge(other *total) {
	t.sum.merge(other.sum)
	t.records += other.records
	subtle.XORBytes(t.seeds[:], t.seeds[:], other.seeds[:])
}

// Estimate implements count.State. The standard errors are the noise's, and an
// upper bound for the rounding. O(d' log d').
func (t *total) Estimate(reports int64) (*fl.Estimate, error) {
	noisy := &total{sum: t.sum.clone(), records: t.records}
	rng := rand.New(rand.NewChaCha8(t.seeds))
	for range bothNoises {
		noisy.sum.disturb(t.mechanism.noise, rng)
	}
	return t.mechanism.estimate(noisy, reports)
}

// both is the side of an aggregator of whole reports in its snapshot.
const both fl.ShareSide = 0

// Append implements count.State.
func (t *total) Append(payload []byte, reports int64) []byte {
	return t.encode(payload, both, reports, nil)
}

// MaxBytes implements count.State.
func (t *total) MaxBytes() int { return maxPayload + t.sum.packedBytes() }

// Restore implements count.State.
func (t *total) Restore(p *count.Payload) int64 {
	sum, reports, _, err := t.mechanism.decode(both, p.Rest())
	if err != nil {
		p.Refuse("payload", err, "must be a sum of the round")
		return 0
	}
	t.sum, t.records, t.seeds = sum.sum, sum.records, sum.seeds
	return reports
}

const (
	// maxReports bounds the number of reports that a snapshot may claim.
	maxReports = 1 << 40
	// maxTotal bounds the number of their records.
	maxTotal = 1 << 60
	// maxPayload bounds the length of a payload without its sums.
	maxPayload = 1 + 2*binary.MaxVarintLen64 + idset.Bytes
)

// encode appends the binary form of a total of one side: a byte for the side, the number of
// reports as an uvarint, in a round about records their number as another one, the digest of the ids (for both: the
// seeds) and the packed sums.
func (t *total) encode(payload []byte, side fl.ShareSide, reports int64, ids *idset.Digest) []byte {
	payload = binary.AppendUvarint(append(payload, byte(side)), uint64(reports))
	if t.mechanism.records > 0 {
		payload = binary.AppendUvarint(payload, uint64(t.records))
	}
	if side == both {
		payload = append(payload, t.seeds[:]...)
	} else {
		payload = ids.Append(payload)
	}
	return t.sum.pack(payload)
}

// decode is the inverse of encode. The error is a *fl.ParamError.
func (m *mechanism) decode(side fl.ShareSide, payload []byte) (t *total, reports int64, ids idset.Digest, err error) {
	if len(payload) == 0 || fl.ShareSide(payload[0]) != side {
		return nil, 0, ids, fl.Invalid("side", fmt.Sprintf("% x", payload[:min(1, len(payload))]), "must be %d", side)
	}
	t = m.newTotal()
	claimed, payload, err := cutUvarint("reports", payload[1:], maxReports)
	if err == nil && m.records > 0 {
		t.records, payload, err = cutUvarint(fl.ParamRecords, payload, maxTotal)
		if err == nil && t.records < claimed {
			err = fl.Invalid(fl.ParamRecords, t.records, "must be at least one a report, %d", claimed)
		}
	}
	if err != nil {
		return nil, 0, ids, err
	}
	before := idset.Bytes
	if side == both {
		before = seedBytes
	}
	if len(payload) < before || !t.sum.add(payload[before:]) {
		return nil, 0, ids, fl.Invalid("sums", fmt.Sprintf("%d bytes", len(payload)), "must be %d bytes in their only form", before+t.sum.packedBytes())
	}
	if side == both {
		copy(t.seeds[:], payload)
	} else {
		ids = idset.Parse(payload[:before])
	}
	return t, claimed, ids, nil
}

// cutUvarint reads a number of at most most from the beginning of a payload, and returns the rest.
func cutUvarint(name string, payload []byte, most int64) (n int64, rest []byte, err error) {
	v, used := binary.Uvarint(payload)
	if used <= 0 || used > 1 && payload[used-1] == 0 || v > uint64(most) {
		return 0, nil, fl.Invalid(name, v, "must be a varint of the shortest form, at most %d", most)
	}
	return int64(v), payload[used:], nil
}
