// Package ranges cuts files of reports into parts with whole reports. Use it where several machines read
// one file at the same time. Start with [Scan], and read each [Range] with its method Read.
package ranges

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// Range is a part of a file with whole reports. A batch engine reads the ranges of a file at the
// same time, on different machines. [Scan] finds them.
type Range struct {
	Offset  int64             // of its first byte in the file
	Bytes   int64             // its length, at most MaxRangeBytes
	Reports int               // how many it holds
	Digest  [sha256.Size]byte // SHA-256 of its bytes
}

const (
	// RangeBytes is the length from which on Scan ends a range.
	RangeBytes = 1 << 18
	// MaxRangeBytes is the length of the longest range: one more report fits behind RangeBytes.
	MaxRangeBytes = RangeBytes + reportfile.MaxReportBytes + binary.MaxVarintLen64
)

// Scanned is what Scan found in a complete file.
type Scanned struct {
	Digest  [sha256.Size]byte // identifies the file, see reportfile.Reader
	Seeded  bool              // see reportfile.Reader
	Reports int64
	Ranges  []Range // in the order of the file; none for a file without reports
}

// Scan reads a file to its end, checks it as reportfile.Reader does and returns its ranges. It holds
// one report and the list of ranges in memory. O(bytes).
func Scan(in io.Reader, round fl.Round) (*Scanned, error) {
	r, err := reportfile.NewReader(in, round)
	if err != nil {
		return nil, err
	}
	part := sha256.New()
	found := &Scanned{Seeded: r.Seeded()}
	next := Range{Offset: r.Offset()}
	cut := func() {
		if next.Reports == 0 {
			return
		}
		next.Bytes = r.Offset() - next.Offset
		part.Sum(next.Digest[:0])
		found.Ranges = append(found.Ranges, next)
		next = Range{Offset: r.Offset()}
		part.Reset()
	}
	for {
		report, err := r.Next()
		if errors.Is(err, io.EOF) {
			cut()
			found.Digest = r.Digest()
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		_, _ = part.Write(binary.AppendUvarint(nil, uint64(len(report))+1)) // never fails
		_, _ = part.Write(report)
		found.Reports++
		next.Reports++
		if r.Offset()-next.Offset >= RangeBytes {
			cut()
		}
	}
}

// Read returns the reports of a range from a reader that stands at its first byte, with the
// offset of each in the file. It checks all bytes before it returns any. The reports share
// memory. The error is a *fl.ParamError, wrapped, when they are not those that Scan saw. It
// allocates what the file holds and not what the range announces.
func (g Range) Read(in io.Reader) (reports [][]byte, offsets []int64, err error) {
	if g.Bytes < 0 || g.Bytes > MaxRangeBytes {
		return nil, nil, g.wrong("range", fmt.Sprintf("%d bytes", g.Bytes), "must have between 0 and %d", MaxRangeBytes)
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, in, g.Bytes); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil, g.wrong("file", "a cut or unfinished file", "must end with its trailer")
		}
		return nil, nil, fmt.Errorf("reportfile: range at byte %d: %w", g.Offset, err)
	}
	rest := body.Bytes()
	if got := sha256.Sum256(rest); got != g.Digest {
		return nil, nil, g.wrong("file", fmt.Sprintf("bytes with digest %x…", got[:8]), "must not change while it is read, and had %x… there", g.Digest[:8])
	}
	most := max(0, min(g.Reports, len(rest))) // a report has a byte at least
	reports, offsets = make([][]byte, 0, most), make([]int64, 0, most)
	for at := g.Offset; len(rest) > 0; {
		size, used := binary.Uvarint(rest)
		if used <= 0 || size == 0 || size-1 > uint64(len(rest)-used) {
			return nil, nil, g.wrong("range", fmt.Sprintf("a cut report after %d", len(reports)), "must hold whole reports")
		}
		end := used + int(size-1)
		reports, offsets = append(reports, rest[used:end:end]), append(offsets, at)
		rest = rest[end:]
		at += int64(end)
	}
	if len(reports) != g.Reports {
		return nil, nil, g.wrong("range", fmt.Sprintf("%d reports", len(reports)), "must have %d", g.Reports)
	}
	return reports, offsets, nil
}

func (g Range) wrong(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("reportfile: range at byte %d: %w", g.Offset, fl.Invalid(param, got, rule, args...))
}
