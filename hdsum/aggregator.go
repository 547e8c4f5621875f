package hdsum

import (
	"encoding/binary"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// tally is the shuffler's side, which merges the clients' messages, and then the analyzer. It holds
// one integer per instance. It implements count.State.
type tally struct {
	mechanism *mechanism
	sums      *Sums
}

// Read implements count.State.
func (t *tally) Read(report []byte) (Multiset, error) {
	messages, err := t.mechanism.codec.parse(report)
	if err != nil {
		return nil, err
	}
	return messages, t.sums.layout.check(messages)
}

// Count implements count.State.
func (t *tally) Count(messages Multiset) { t.sums.add(messages) }

// Merge implements count.State.
func (t *tally) Merge(other *tally) { t.sums.merge(other.sums.values) }

// Estimate implements count.State. The standard errors are the noise's standard errors, with an
// upper bound for the rounding. O(instances + d' log d').
func (t *tally) Estimate(reports int64) (*fl.Estimate, error) {
	if most := capacity(t.mechanism.round.Round); reports > int64(most) {
		return nil, fl.Invalid("reports", reports, "must be at most %d", most)
	}
	sum, err := t.mechanism.sum.Analyze(t.sums, reports)
	if err != nil {
		return nil, err
	}
	n := float64(reports)
	mean := fl.Series{Value: sum.Value, StdErr: make([]float64, len(sum.Value))}
	for i := range mean.Value {
		mean.Value[i] /= n
		mean.StdErr[i] = sum.StdErr / n
	}
	return fl.NewEstimate(t.mechanism.round.Round, t.mechanism.Guarantee(), reports, mean), nil
}

// Append implements count.State: the number of reports as a uvarint and the sum of each instance as
// a varint.
func (t *tally) Append(payload []byte, reports int64) []byte {
	payload = binary.AppendUvarint(payload, uint64(reports))
	for _, v := range t.sums.values {
		payload = binary.AppendVarint(payload, v)
	}
	return payload
}

// MaxBytes implements count.State.
func (t *tally) MaxBytes() int { return (1 + len(t.sums.values)) * binary.MaxVarintLen64 }

// Restore implements count.State.
func (t *tally) Restore(p *count.Payload) (reports int64) {
	reports = p.Reports()
	for i := range t.sums.values {
		t.sums.values[i] = p.Varint(math.MinInt64, math.MaxInt64)
	}
	if err := t.sums.check(); err != nil {
		p.Refuse("sums", err, "must be sums of the round")
	}
	return reports
}
