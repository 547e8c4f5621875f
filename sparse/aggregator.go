package sparse

import (
	"encoding/binary"

	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/sparse/slothash"
)

// tally counts the hits of every item. It implements count.State.
type tally struct {
	mechanism *mechanism
	hits      slothash.Tally
}

var _ count.State[slothash.Report, *tally] = (*tally)(nil)

func (m *mechanism) newTally() *tally { return &tally{mechanism: m, hits: m.family.NewTally()} }

// Read implements count.State.
func (t *tally) Read(report []byte) (slothash.Report, error) { return t.mechanism.codec.Parse(report) }

// Count implements count.State.
func (t *tally) Count(r slothash.Report) { t.hits.Add(r.Seed, r.Slot) }

// Merge implements count.State.
func (t *tally) Merge(other *tally) {
	_ = t.hits.Merge(other.hits) // of the same round, so of the same hash family
}

// Append implements count.State. The payload is the number of reports as an uvarint and
// then the integers of the tally as varints. They are sums of integers,
// so the bytes do not depend on how the reports were split or ordered.
func (t *tally) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(payload, uint64(reports))
	for v := range t.hits.State() {
		payload = binary.AppendVarint(payload, int64(v))
	}
	return payload
}

// MaxBytes implements count.State.
func (t *tally) MaxBytes() int { return (1 + t.hits.Integers()) * binary.MaxVarintLen64 }

// Restore implements count.State.
func (t *tally) Restore(p *count.Payload) (reports int64) {
	reports = p.Reports()
	t.hits.SetState(func() int32 { return int32(p.Varint(-reports, reports)) })
	return reports
}
