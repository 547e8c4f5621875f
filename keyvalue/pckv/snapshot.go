package pckv

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// MarshalBinary implements fl.Aggregator. The payload is the number of reports, the
// counts of + and the counts of −, all as uvarints. They are sums of integers, so the
// bytes do not depend on how the reports were split or ordered.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := binary.AppendUvarint(make([]byte, 0, 8+4*len(a.plus)), uint64(a.reports))
	for _, counts := range [][]uint32{a.plus, a.minus} {
		for _, c := range counts {
			payload = binary.AppendUvarint(payload, uint64(c))
		}
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	dim := len(a.plus)
	payload, err := snapshot.Decode(a.mechanism.digest, (1+2*dim)*binary.MaxVarintLen32, data)
	if err != nil {
		return a.badSnapshot(err)
	}
	reports, used := binary.Uvarint(payload)
	if used <= 0 || reports > fl.MaxReports {
		return a.badSnapshot(fmt.Errorf("reports: got %d, must be in [0, %d]", reports, fl.MaxReports))
	}
	payload = payload[used:]
	counts := make([]uint32, 2*dim)
	for i := range counts {
		v, used := binary.Uvarint(payload)
		if used <= 0 || v > reports {
			return a.badSnapshot(fmt.Errorf("counter %d: got %d, must be in [0, %d]", i, v, reports))
		}
		counts[i], payload = uint32(v), payload[used:]
		if i >= dim && uint64(counts[i-dim])+v > reports {
			return a.badSnapshot(fmt.Errorf("key %d: got %d hits, must be in [0, %d]", i-dim, uint64(counts[i-dim])+v, reports))
		}
	}
	if len(payload) > 0 {
		return a.badSnapshot(fmt.Errorf("got %d bytes after the last counter, must be 0", len(payload)))
	}
	a.reports, a.plus, a.minus = int64(reports), counts[:dim:dim], counts[dim:]
	return nil
}

func (a *aggregator) badSnapshot(err error) error {
	return a.mechanism.wrap("aggregator snapshot", err)
}
