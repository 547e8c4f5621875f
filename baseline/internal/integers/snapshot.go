package integers

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// MarshalBinary implements fl.Aggregator: the number of reports as a uvarint, then the
// sums as varints. They are integers: the bytes do not depend on how the reports were split
// or ordered.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := binary.AppendUvarint(make([]byte, 0, 8+4*len(a.sum)), uint64(a.reports))
	for _, v := range a.sum {
		payload = binary.AppendVarint(payload, v)
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	payload, err := snapshot.Decode(a.mechanism.digest, (1+len(a.sum))*binary.MaxVarintLen64, data)
	if err != nil {
		return a.badSnapshot(err)
	}
	reports, used := binary.Uvarint(payload)
	if used <= 0 || reports > fl.MaxReports {
		return a.badSnapshot(fmt.Errorf("reports: got %d, must be in [0, %d]", reports, fl.MaxReports))
	}
	payload = payload[used:]
	lowest, highest := math.MinInt16*int64(reports), math.MaxInt16*int64(reports)
	sum := make([]int64, len(a.sum))
	for j := range sum {
		v, used := binary.Varint(payload)
		if used <= 0 || v < lowest || v > highest {
			return a.badSnapshot(fmt.Errorf("sum %d: got %d, must be in [%d, %d]", j, v, lowest, highest))
		}
		sum[j], payload = v, payload[used:]
	}
	if len(payload) > 0 {
		return a.badSnapshot(fmt.Errorf("got %d bytes after the last sum, must be 0", len(payload)))
	}
	a.reports, a.sum = int64(reports), sum
	return nil
}

func (a *aggregator) badSnapshot(err error) error {
	return a.mechanism.wrap("aggregator snapshot", err)
}
