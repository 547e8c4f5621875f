package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/beam/keyedcsv"
	"github.com/hushgrad/hushgrad/fl"
)

// Batch holds reports of one round with where they come from.
type Batch struct {
	Round   [sha256.Size]byte // its digest
	Seeded  bool              // the reports were drawn from a seed
	File    string            // its name, for errors
	Reports [][]byte
	Offsets []int64 // of the reports in the file, for errors
}

// maxBatchBytes bounds a batch that is read from a runner: a range with the offsets of its reports,
// and a name. A byte of a range is at most one report, with an offset of 10 bytes.
const maxBatchBytes = 12 * keyedcsv.MaxRangeBytes

// encodeBatch is the coder of a Batch: the digest, 1 for seeded reports or 0, the name and then
// offset and report of each. Lengths and offsets are unsigned varints.
func encodeBatch(b Batch) ([]byte, error) {
	if len(b.Offsets) != len(b.Reports) {
		return nil, fmt.Errorf("pipeline: %w", fl.Invalid("batch.offsets", len(b.Offsets), "must be as many as the reports, %d", len(b.Reports)))
	}
	out := append([]byte(nil), b.Round[:]...)
	seeded := byte(0)
	if b.Seeded {
		seeded = 1
	}
	out = append(out, seeded)
	out = binary.AppendUvarint(out, uint64(len(b.File)))
	out = append(out, b.File...)
	for i, report := range b.Reports {
		out = binary.AppendUvarint(out, uint64(b.Offsets[i]))
		out = binary.AppendUvarint(out, uint64(len(report)))
		out = append(out, report...)
	}
	return out, nil
}

// decodeBatch is the other half of the coder. The reports share the memory of data.
func decodeBatch(data []byte) (Batch, error) {
	if len(data) > maxBatchBytes {
		return Batch{}, badBatch("length", len(data), "must be at most %d", int64(maxBatchBytes))
	}
	var b Batch
	if len(data) < len(b.Round)+1 || data[len(b.Round)] > 1 {
		return Batch{}, badBatch("head", fmt.Sprintf("%d bytes", len(data)), "must be a digest of %d bytes and a 0 or a 1", len(b.Round))
	}
	copy(b.Round[:], data)
	b.Seeded = data[len(b.Round)] == 1
	name, rest, ok := part(data[len(b.Round)+1:])
	if !ok {
		return Batch{}, badBatch("file", "a cut name", "must be a length and that many bytes")
	}
	b.File = string(name)
	for len(rest) > 0 {
		offset, used := binary.Uvarint(rest)
		if used <= 0 || offset > math.MaxInt64 {
			return Batch{}, badBatch("reports", fmt.Sprintf("a bad offset after %d", len(b.Reports)), "must be a varint of 63 bits")
		}
		report, after, ok := part(rest[used:])
		if !ok {
			return Batch{}, badBatch("reports", fmt.Sprintf("a cut report after %d", len(b.Reports)), "must be a length and that many bytes")
		}
		b.Offsets, b.Reports = append(b.Offsets, int64(offset)), append(b.Reports, report)
		rest = after
	}
	return b, nil
}

// part reads a length and that many bytes.
func part(data []byte) (body, rest []byte, ok bool) {
	size, used := binary.Uvarint(data)
	if used <= 0 || size > uint64(len(data)-used) {
		return nil, nil, false
	}
	end := used + int(size)
	return data[used:end:end], data[end:], true
}

func badBatch(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("pipeline: batch: %w", fl.Invalid(param, got, rule, args...))
}
