package succinct

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/snapshot"
)

// MarshalBinary implements fl.Aggregator. The payload is the number of reports and the
// sum of squares, high and low 64 bits, as uvarints, and then the sums as varints.
func (a *aggregator) MarshalBinary() ([]byte, error) {
	payload := make([]byte, 0, 24+4*len(a.sums))
	for _, v := range []uint64{uint64(a.reports), a.squares.hi, a.squares.lo} {
		payload = binary.AppendUvarint(payload, v)
	}
	for _, v := range a.sums {
		payload = binary.AppendVarint(payload, v)
	}
	return snapshot.Encode(a.mechanism.digest, payload)
}

// UnmarshalBinary implements fl.Aggregator. On error the state is unchanged.
func (a *aggregator) UnmarshalBinary(data []byte) error {
	payload, err := snapshot.Decode(a.mechanism.digest, (3+len(a.sums))*binary.MaxVarintLen64, data)
	if err != nil {
		return badSnapshot(err)
	}
	var head [3]uint64
	for i := range head {
		v, used := binary.Uvarint(payload)
		if used <= 0 {
			return badSnapshot(fmt.Errorf("integer %d of the head: got %d, must be an uvarint", i, v))
		}
		payload, head[i] = payload[used:], v
	}
	if head[0] > fl.MaxReports {
		return badSnapshot(fmt.Errorf("reports: got %d, must be at most %d", head[0], fl.MaxReports))
	}
	reports := int64(head[0])
	limit := a.mechanism.codec.limit()
	squares := uint128{hi: head[1], lo: head[2]}
	hi, lo := bits.Mul64(uint64(limit*limit), head[0])
	if squares.hi > hi || squares.hi == hi && squares.lo > lo {
		return badSnapshot(fmt.Errorf("sum of squares: got %d·2^64 + %d, too much for %d reports", squares.hi, squares.lo, reports))
	}
	sums := make([]int64, len(a.sums))
	for j := range sums {
		v, used := binary.Varint(payload)
		if used <= 0 || v < -reports*limit || v > reports*limit {
			return badSnapshot(fmt.Errorf("sum %d: got %d, must be in [-%d, %d]", j, v, reports*limit, reports*limit))
		}
		payload, sums[j] = payload[used:], v
	}
	if len(payload) > 0 {
		return badSnapshot(fmt.Errorf("got %d bytes after the last sum, must be 0", len(payload)))
	}
	a.sums, a.squares, a.reports = sums, squares, reports
	return nil
}

func badSnapshot(err error) error {
	return fmt.Errorf("succinct: aggregator snapshot: %w", err)
}
