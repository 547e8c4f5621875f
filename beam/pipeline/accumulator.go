package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Accumulator is the part of a round that was counted so far: an aggregator, or the snapshot of one
// that came from another machine. The zero value has counted nothing.
type Accumulator struct {
	round      [sha256.Size]byte // its digest
	aggregator fl.Aggregator     // nil for a snapshot, and for the zero value
	snapshot   []byte
	seeded     int64 // reports that were drawn from a seed
}

// empty is true of the zero value.
func (a Accumulator) empty() bool { return a.aggregator == nil && a.snapshot == nil }

// MaxAccumulatorBytes is the length of the longest accumulator that is sent. Runners take elements
// of about this size at most. It is enough for some 10^7 coordinates.
const MaxAccumulatorBytes = 256 << 20

// encodeAccumulator is the coder of an Accumulator: nothing for the zero value, and else the
// digest, the number of seeded reports as an unsigned varint and the aggregator's own snapshot.
func encodeAccumulator(a Accumulator) ([]byte, error) {
	if a.empty() {
		return nil, nil
	}
	snapshot := a.snapshot
	if a.aggregator != nil {
		var err error
		if snapshot, err = a.aggregator.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	out := append([]byte(nil), a.round[:]...)
	out = binary.AppendUvarint(out, uint64(a.seeded))
	if total := len(out) + len(snapshot); total > MaxAccumulatorBytes {
		return nil, badAccumulator("length", total, "must be at most %d: the round has too many coordinates for a batch engine", MaxAccumulatorBytes)
	}
	return append(out, snapshot...), nil
}

// decodeAccumulator is the other half of the coder. It looks at the frame alone: the snapshot is
// read and checked, within the limits of its round, where it is merged.
func decodeAccumulator(data []byte) (Accumulator, error) {
	if len(data) == 0 {
		return Accumulator{}, nil
	}
	if len(data) > MaxAccumulatorBytes {
		return Accumulator{}, badAccumulator("length", len(data), "must be at most %d", MaxAccumulatorBytes)
	}
	var a Accumulator
	if len(data) < len(a.round) {
		return Accumulator{}, badAccumulator("length", len(data), "must be at least %d", len(a.round))
	}
	copy(a.round[:], data)
	seeded, used := binary.Uvarint(data[len(a.round):])
	if used <= 0 || seeded > fl.MaxReports || len(data) == len(a.round)+used {
		return Accumulator{}, badAccumulator("seeded", seeded, "must be at most %d and have a snapshot behind it", fl.MaxReports)
	}
	a.seeded, a.snapshot = int64(seeded), data[len(a.round)+used:]
	return a, nil
}

func badAccumulator(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("pipeline: accumulator: %w", fl.Invalid(param, got, rule, args...))
}
