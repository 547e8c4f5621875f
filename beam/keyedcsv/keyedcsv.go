// Package keyedcsv reads CSV files of reports of several rounds. Use it for reports that come out
// of a message queue or a database. Start with [Scan].
//
// # Format
//
// The first line is round,report or round,report,id. Every other line has a report:
//
//	round   the digest of the report's round in hexadecimal, 64 digits, see fl.Round.Digest
//	report  its bytes in base64 with padding (RFC 4648, section 4)
//	id      1 to 128 bytes without a comma; the same id in a round is the same report
//
// There are no quotes: no value needs them. Every line ends with a line feed, the last one too,
// so that a file that was cut within a line is refused. A file that was cut between two lines is
// not: a file of package reportfile has a trailer that shows it.
package keyedcsv

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hushgrad/hushgrad/beam/ranges"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

const (
	header       = "round,report"
	headerWithID = "round,report,id"

	maxIDBytes = 128
	// maxLineBytes is the length of the longest line: a report in base64, a digest and an id.
	maxLineBytes = reportfile.MaxReportBytes/3*4 + 4 + 2*sha256.Size + maxIDBytes + 4
	// MaxRangeBytes is the length of the longest range.
	MaxRangeBytes = ranges.RangeBytes + maxLineBytes
)

// Is says whether a file that begins with these bytes has the header of the format.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte(header)) }

// Scan reads a file to its end and returns its ranges, and whether its reports have ids. Ranges
// end where a line ends, and Seeded is false: the format does not say it. Only the header and
// the lengths of lines are checked; Read checks the rest. O(bytes).
func Scan(in io.Reader) (found *ranges.Scanned, ids bool, err error) {
	all := sha256.New()
	lines := bufio.NewReaderSize(io.TeeReader(in, all), 1<<16)
	found = &ranges.Scanned{}
	var at int64
	first, err := line(lines, at)
	if err != nil {
		return nil, false, err
	}
	at += int64(len(first))
	switch string(text(first)) {
	case header:
	case headerWithID:
		ids = true
	default:
		return nil, false, wrong(0, "header", string(first[:min(len(first), 64)]), "must be %q or %q", header, headerWithID)
	}
	part, next := sha256.New(), ranges.Range{Offset: at}
	cut := func() {
		if next.Reports > 0 {
			next.Bytes = at - next.Offset
			part.Sum(next.Digest[:0])
			found.Ranges = append(found.Ranges, next)
			found.Reports += int64(next.Reports)
		}
		next = ranges.Range{Offset: at}
		part.Reset()
	}
	for {
		row, err := line(lines, at)
		if errors.Is(err, io.EOF) {
			cut()
			all.Sum(found.Digest[:0])
			return found, ids, nil
		}
		if err != nil {
			return nil, false, err
		}
		_, _ = part.Write(row) // never fails
		at += int64(len(row))
		next.Reports++
		if at-next.Offset >= ranges.RangeBytes {
			cut()
		}
	}
}

// line reads a line with its line feed. The error is io.EOF where the file ends.
func line(in *bufio.Reader, at int64) ([]byte, error) {
	var long []byte
	for {
		piece, err := in.ReadSlice('\n')
		if err == nil && long == nil {
			return piece, nil
		}
		long = append(long, piece...)
		switch {
		case err == nil:
			return long, nil
		case errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLineBytes:
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, wrong(at, "line", fmt.Sprintf("more than %d bytes", maxLineBytes), "must have at most that")
		case errors.Is(err, io.EOF) && len(long) > 0:
			return nil, wrong(at, "file", "a last line without an end", "must end with a line feed: the file is cut")
		default:
			return nil, err
		}
	}
}

// text is a line without its end.
func text(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// Report is one line.
type Report struct {
	Round  [sha256.Size]byte
	Report []byte
	ID     string // "" in a file without ids
	Offset int64  // of the line in the file
}

// Read returns the reports of a range from a reader that stands at its first byte. The error is a
// *fl.ParamError, wrapped, for a line that is not of the format, and for bytes that are not those
// that Scan saw. It allocates what the file holds and not what the range announces.
func Read(in io.Reader, g ranges.Range, ids bool) ([]Report, error) {
	if g.Bytes < 0 || g.Bytes > MaxRangeBytes {
		return nil, wrong(g.Offset, "range", fmt.Sprintf("%d bytes", g.Bytes), "must have between 0 and %d", int64(MaxRangeBytes))
	}
	var body bytes.Buffer
	if _, err := io.CopyN(&body, in, g.Bytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("keyedcsv: at byte %d: %w", g.Offset, err)
	}
	if got := sha256.Sum256(body.Bytes()); got != g.Digest {
		return nil, wrong(g.Offset, "file", fmt.Sprintf("bytes with digest %x…", got[:8]), "must not change while it is read, and had %x… there", g.Digest[:8])
	}
	var reports []Report
	at := g.Offset
	for row := range bytes.Lines(body.Bytes()) {
		r, err := parse(text(row), ids)
		if err != nil {
			return nil, fmt.Errorf("keyedcsv: at byte %d: %w", at, err)
		}
		r.Offset = at
		reports = append(reports, r)
		at += int64(len(row))
	}
	return reports, nil
}

// parse reads a line.
func parse(row []byte, ids bool) (r Report, err error) {
	fields, want := bytes.Split(row, []byte(",")), 2
	if ids {
		want = 3
	}
	switch {
	case len(fields) != want:
		return r, fl.Invalid("line", fmt.Sprintf("%d values", len(fields)), "must have %d", want)
	case len(fields[0]) != 2*sha256.Size:
		return r, fl.Invalid("round", string(fields[0][:min(len(fields[0]), 80)]), "must be a digest of %d hexadecimal digits", 2*sha256.Size)
	case ids && (len(fields[2]) == 0 || len(fields[2]) > maxIDBytes):
		return r, fl.Invalid("id", fmt.Sprintf("%d bytes", len(fields[2])), "must have 1 to %d", maxIDBytes)
	}
	if _, err := hex.Decode(r.Round[:], fields[0]); err != nil {
		return r, fl.Invalid("round", string(fields[0]), "must be a digest of %d hexadecimal digits", 2*sha256.Size)
	}
	if r.Report, err = base64.StdEncoding.Strict().AppendDecode(nil, fields[1]); err != nil {
		return r, fl.Invalid("report", err, "must be base64 with padding")
	}
	if ids {
		r.ID = string(slices.Clone(fields[2]))
	}
	return r, nil
}

func wrong(at int64, param string, got any, rule string, args ...any) error {
	return fmt.Errorf("keyedcsv: at byte %d: %w", at, fl.Invalid(param, got, rule, args...))
}
