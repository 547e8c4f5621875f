package rivals

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
	"github.com/hushgrad/hushgrad/keyvalue"
)

// tally counts the reports about one key and their votes.
type tally struct{ reports, none, plus, minus int32 }

func (k *tally) add(votes uint8) {
	k.reports++
	if votes&none != 0 {
		k.none++
	}
	if votes&plus != 0 {
		k.plus++
	}
	if votes&minus != 0 {
		k.minus++
	}
}

func (k *tally) merge(o tally) {
	k.reports += o.reports
	k.none += o.none
	k.plus += o.plus
	k.minus += o.minus
}

// fields are the counters in the order of a snapshot.
func (k *tally) fields() [4]*int32 { return [4]*int32{&k.reports, &k.none, &k.plus, &k.minus} }

// tallies is the State of an aggregator: the votes on every key.
type tallies struct {
	mechanism *privKVMechanism
	keys      []tally
}

type privKVAggregator = count.Aggregator[entry, *tallies]

func (m *privKVMechanism) newTallies() *tallies {
	return &tallies{mechanism: m, keys: make([]tally, m.round.Dim)}
}

func (s *tallies) Read(report []byte) (entry, error) { return s.mechanism.codec.parse(report) }

func (s *tallies) Count(e entry) { s.keys[e.key].add(s.mechanism.protocol.messages[e.message]) }

func (s *tallies) Merge(other *tallies) {
	for j, k := range other.keys {
		s.keys[j].merge(k)
	}
}

// Estimate implements count.State. O(dim).
func (s *tallies) Estimate(reports int64) (*fl.Estimate, error) {
	m, d := s.mechanism, s.mechanism.round.Dim
	mean := fl.Series{Value: make([]float64, d), StdErr: make([]float64, d)}
	frequency := fl.Series{Value: make([]float64, d), StdErr: make([]float64, d)}
	conditional := fl.Series{Value: make([]float64, d)}
	scale := m.round.Scale
	for j, k := range s.keys {
		value, stderr := m.protocol.mean(k, d, reports)
		mean.Value[j], mean.StdErr[j] = scale*value, scale*stderr
		frequency.Value[j], frequency.StdErr[j] = m.protocol.frequency(k)
		conditional.Value[j] = scale * m.protocol.conditionalMean(k, frequency.Value[j])
	}
	return keyvalue.Estimate(m.round.Round, m.Guarantee(), reports, mean, frequency, conditional), nil
}

// Append implements count.State: for every key, the number of reports and of the votes for
// none, plus and minus as uvarints.
func (s *tallies) Append(payload []byte, _ int64) []byte {
	payload = slices.Grow(payload, 8*len(s.keys))
	for j := range s.keys {
		for _, f := range s.keys[j].fields() {
			payload = binary.AppendUvarint(payload, uint64(*f))
		}
	}
	return payload
}

func (s *tallies) MaxBytes() int { return 4 * len(s.keys) * binary.MaxVarintLen32 }

// Restore implements count.State. The number of reports is the sum of the keys' numbers of reports.
func (s *tallies) Restore(p *count.Payload) (reports int64) {
	for j := range s.keys {
		k := &s.keys[j]
		for _, f := range k.fields() {
			*f = int32(p.Uvarint(fl.MaxReports))
		}
		if p.OK() && !s.mechanism.protocol.possible(*k) {
			p.Refuse(fmt.Sprintf("key %d", j), fmt.Sprintf("%+v", *k), "must be the votes of that many reports")
		}
		reports += int64(k.reports)
	}
	if reports > fl.MaxReports {
		p.Refuse("reports", reports, "must be at most %d", fl.MaxReports)
	}
	return reports
}

// possible is true when k can be counted from reports: every report of PrivKV has one vote, and
// every report of KVUE has at most one vote of each kind.
func (p *protocol) possible(k tally) bool {
	if len(p.messages) == 3 {
		return int64(k.none)+int64(k.plus)+int64(k.minus) == int64(k.reports)
	}
	return max(k.none, k.plus, k.minus) <= k.reports
}

// PrivKVCounts is what the reports about one key say: how many there are, and how many of them
// vote for none, plus and minus. A report of PrivKV and PrivKVM has one vote, one
// of KVUE has any of the three.
type PrivKVCounts struct{ Reports, None, Plus, Minus int32 }

// AddPrivKVCounts adds counts that were taken elsewhere, one PrivKVCounts per key, to an aggregator
// of PrivKV, PrivKVM or KVUE, as if their reports had been added to it: of a server that keeps its
// own counters, or of a simulation that draws the counts from their law. It returns a
// *fl.ParamError (wrapped), and changes nothing, when agg counts for another mechanism, when
// there are not dim of them, and when that number of reports cannot have the votes. O(dim).
func AddPrivKVCounts(agg fl.Aggregator, counts []PrivKVCounts) error {
	a, ok := agg.(*privKVAggregator)
	if !ok {
		return fmt.Errorf("privkv: add counts: %w", fl.Invalid("agg", fmt.Sprintf("%T", agg), "must be an aggregator of %s, %s or %s", PrivKV, PrivKVM, KVUE))
	}
	m, keys := a.State().mechanism, a.State().mechanism.newTallies()
	if len(counts) != len(keys.keys) {
		return m.round.Wrap("add counts", fl.Invalid("counts", len(counts), "must be dim = %d entries", len(keys.keys)))
	}
	added := int64(0)
	for j, c := range counts {
		keys.keys[j] = tally{reports: c.Reports, none: c.None, plus: c.Plus, minus: c.Minus}
		if min(c.Reports, c.None, c.Plus, c.Minus) < 0 || !m.protocol.possible(keys.keys[j]) {
			return m.round.Wrap("add counts", fl.Invalid(fmt.Sprintf("counts[%d]", j), fmt.Sprintf("%+v", c), "must be the votes of that many reports"))
		}
		added += int64(c.Reports)
	}
	return a.AddState(keys, added)
}
