package fl

import (
	"encoding/binary"
	"fmt"
)

// MaxBatch is the largest number of reports that UnpackReports reads.
const MaxBatch = 1 << 16

// PackReports appends reports of m to dst, one after the other, as they travel and as they are
// stored. Reports of a mechanism that is a ReportSizer follow each other directly. Every other
// report comes after its length as an unsigned varint. The error is a *ParamError, wrapped, for
// a report that has not the one size; then the result is dst as it was.
func PackReports(m Mechanism, dst []byte, reports ...[]byte) ([]byte, error) {
	sizer, sized := m.(ReportSizer)
	packed := dst
	for i, r := range reports {
		switch {
		case !sized:
			packed = binary.AppendUvarint(packed, uint64(len(r)))
		case len(r) != sizer.ReportBytes():
			return dst, Invalid(fmt.Sprintf("reports[%d]", i), fmt.Sprintf("%d bytes", len(r)), "must have %d", sizer.ReportBytes())
		}
		packed = append(packed, r...)
	}
	return packed, nil
}

// UnpackReports returns the reports in what PackReports has written. They share its memory.
// The error is a *ParamError, wrapped, for bytes that do not end where a report ends, and for
// no report or more than MaxBatch. Whether a report is one of the round is not checked.
//
// It allocates 24 bytes for each report.
func UnpackReports(m Mechanism, packed []byte) ([][]byte, error) {
	if sizer, ok := m.(ReportSizer); ok {
		return unpackSized(sizer.ReportBytes(), packed)
	}
	n := 0
	for rest := packed; len(rest) > 0; n++ {
		size, used := binary.Uvarint(rest)
		switch {
		case used <= 0 || size > uint64(len(rest)-used):
			return nil, Invalid("reports", fmt.Sprintf("a cut report after %d", n), "must hold a length and that many bytes for each report")
		case n == MaxBatch:
			return nil, tooMany(n + 1)
		}
		rest = rest[used+int(size):]
	}
	if n == 0 {
		return nil, Invalid("reports", "nothing", "at least one is required")
	}
	reports := make([][]byte, n)
	for i := range reports {
		size, used := binary.Uvarint(packed)
		end := used + int(size)
		reports[i], packed = packed[used:end:end], packed[end:]
	}
	return reports, nil
}

func unpackSized(size int, packed []byte) ([][]byte, error) {
	switch {
	case len(packed) == 0:
		return nil, Invalid("reports", "nothing", "at least one is required")
	case size < 1 || len(packed)%size != 0:
		return nil, Invalid("reports", fmt.Sprintf("%d bytes", len(packed)), "must have a multiple of %d, the size of a report", size)
	case len(packed)/size > MaxBatch:
		return nil, tooMany(len(packed) / size)
	}
	reports := make([][]byte, len(packed)/size) // slices.Collect would grow it step by step
	for i := range reports {
		reports[i], packed = packed[:size:size], packed[size:]
	}
	return reports, nil
}

func tooMany(n int) error {
	return Invalid("reports", n, "must be at most %d in a batch", MaxBatch)
}
