package sparse

import (
	"encoding/binary"

	"github.com/hushgrad/hushgrad/fl/count"
)

// tally counts the hits of every item. It implements count.State.
type tally struct {
	mechanism *mechanism
	hits      Tally
}

// Read implements count.State.
func (t *tally) Read(report []byte) (Report, error) { return t.mechanism.codec.Parse(report) }

// Count implements count.State.
func (t *tally) Count(r Report) { t.hits.Add(r.Seed, r.Slot) }

// Merge implements count.State.
func (t *tally) Merge(other *tally) {
	_ = t.hits.Merge(other.hits) // of the same round, so of the same hash family
}

// Append implements count.State. The payload is the number of reports as an uvarint and
// then the integers of the tally as varints. They are sums of integers,
// so the bytes do not depend on how the reports were split or ordered.
func (t *tally) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(payload, uint64(reports))
	t.hits.Visit(func(v int32) int32 {
		payload = binary.AppendVarint(payload, int64(v))
		return v
	})
	return payload
}

// MaxBytes implements count.State.
func (t *tally) MaxBytes() int { return (1 + t.hits.Integers()) * binary.MaxVarintLen64 }

// Restore implements count.State.
func (t *tally) Restore(p *count.Payload) (reports int64) {
	reports = p.Reports()
	t.hits.Visit(func(int32) int32 { return int32(p.Varint(-reports, reports)) })
	return reports
}
