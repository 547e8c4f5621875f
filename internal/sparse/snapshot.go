package sparse

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// MarshalBinary implements fl.Aggregator. The payload is the number of reports
// and then, for every coordinate, the counts of + and −, all as uvarints.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	plus, minus := a.tally.Counts()
	payload := binary.AppendUvarint(make([]byte, 0, 8+4*len(plus)), uint64(a.reports))
	for j := range plus {
		payload = binary.AppendUvarint(payload, uint64(plus[j]))
		payload = binary.AppendUvarint(payload, uint64(minus[j]))
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	dim := a.mechanism.scheme.Round.Dim
	payload, err := snapshot.Decode(a.mechanism.digest, (2*dim+1)*binary.MaxVarintLen64, data)
	if err != nil {
		return a.badSnapshot(err)
	}
	next := func(limit uint64) (int64, error) {
		v, size := binary.Uvarint(payload)
		if size <= 0 || v > limit {
			return 0, a.badSnapshot(fmt.Errorf("count: got %d, must be in [0, %d]", v, limit))
		}
		payload = payload[size:]
		return int64(v), nil
	}
	reports, err := next(math.MaxInt64)
	if err != nil {
		return err
	}
	plus, minus := make([]int64, dim), make([]int64, dim)
	for j := range dim {
		if plus[j], err = next(uint64(reports)); err != nil {
			return err
		}
		if minus[j], err = next(uint64(reports)); err != nil {
			return err
		}
	}
	if len(payload) > 0 {
		return a.badSnapshot(fmt.Errorf("got %d bytes after the last count, must be 0", len(payload)))
	}
	a.tally.SetCounts(plus, minus)
	a.reports = reports
	return nil
}

func (a *aggregator) badSnapshot(err error) error {
	return fmt.Errorf("%s: aggregator snapshot: %w", a.mechanism.scheme.Round.Mechanism, err)
}
