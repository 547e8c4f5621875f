package privkv

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// fields are the counters in the order of a snapshot.
func (k *tally) fields() [4]*int32 { return [4]*int32{&k.reports, &k.none, &k.plus, &k.minus} }

// MarshalBinary implements fl.Aggregator. The payload is, for every key, the number of
// reports and of the votes for none, plus and minus as uvarints.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := make([]byte, 0, 8*len(a.tallies))
	for j := range a.tallies {
		for _, f := range a.tallies[j].fields() {
			payload = binary.AppendUvarint(payload, uint64(*f))
		}
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	payload, err := snapshot.Decode(a.mechanism.digest, 4*len(a.tallies)*binary.MaxVarintLen32, data)
	if err != nil {
		return a.badSnapshot(err)
	}
	restored, reports := make([]tally, len(a.tallies)), int64(0)
	for j := range restored {
		k := &restored[j]
		for i, f := range k.fields() {
			v, used := binary.Uvarint(payload)
			if used <= 0 || v > fl.MaxReports {
				return a.badSnapshot(fmt.Errorf("counter %d of key %d: got %d, must be in [0, %d]", i, j, v, fl.MaxReports))
			}
			payload = payload[used:]
			*f = int32(v)
		}
		if !a.mechanism.protocol.possible(*k) {
			return a.badSnapshot(fmt.Errorf("key %d: got %+v, not the votes of so many reports", j, *k))
		}
		reports += int64(k.reports)
	}
	if len(payload) > 0 {
		return a.badSnapshot(fmt.Errorf("got %d bytes after the last counter, must be 0", len(payload)))
	}
	if reports > fl.MaxReports {
		return a.badSnapshot(fmt.Errorf("reports: got %d, must be at most %d", reports, fl.MaxReports))
	}
	a.tallies, a.reports = restored, reports
	return nil
}

// possible tells whether k can be counted from reports: every report of PrivKV has one
// vote, those of KVUE have at most one of each kind.
func (p *protocol) possible(k tally) bool {
	if len(p.messages) == 3 {
		return int64(k.none)+int64(k.plus)+int64(k.minus) == int64(k.reports)
	}
	return max(k.none, k.plus, k.minus) <= k.reports
}

func (a *aggregator) badSnapshot(err error) error {
	return fmt.Errorf("%s: aggregator snapshot: %w", a.mechanism.round.Mechanism, err)
}
