package sparse

import (
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// MarshalBinary implements fl.Aggregator. The payload is the number of reports as
// an uvarint and then the integers of the tally as varints, array after array.
// They are sums of integers, so the bytes do not depend on how the reports were
// split or ordered.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	state := a.tally.State()
	payload := binary.AppendUvarint(make([]byte, 0, 8+2*size(state)), uint64(a.reports))
	for _, array := range state {
		for _, v := range array {
			payload = binary.AppendVarint(payload, int64(v))
		}
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	shape := a.tally.State()
	payload, err := snapshot.Decode(a.mechanism.digest, (1+size(shape))*binary.MaxVarintLen64, data)
	if err != nil {
		return a.badSnapshot(err)
	}
	reports, used := binary.Uvarint(payload)
	if used <= 0 || reports > slothash.MaxReports {
		return a.badSnapshot(fmt.Errorf("reports: got %d, must be in [0, %d]", reports, int64(slothash.MaxReports)))
	}
	payload = payload[used:]
	state := make([][]int32, len(shape))
	for i := range state {
		state[i] = make([]int32, len(shape[i]))
		for j := range state[i] {
			v, used := binary.Varint(payload)
			if used <= 0 || v < -int64(reports) || v > int64(reports) {
				return a.badSnapshot(fmt.Errorf("counter %d of array %d: got %d, must be in [-%d, %d]", j, i, v, reports, reports))
			}
			payload = payload[used:]
			state[i][j] = int32(v)
		}
	}
	if len(payload) > 0 {
		return a.badSnapshot(fmt.Errorf("got %d bytes after the last counter, must be 0", len(payload)))
	}
	a.tally.SetState(state)
	a.reports = int64(reports)
	return nil
}

// size is the number of integers in a state.
func size(state [][]int32) (n int) {
	for _, array := range state {
		n += len(array)
	}
	return n
}

func (a *aggregator) badSnapshot(err error) error {
	return fmt.Errorf("%s: aggregator snapshot: %w", a.mechanism.scheme.Round.Mechanism, err)
}
