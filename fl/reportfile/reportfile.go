// Package reportfile reads and writes files of reports of one round. Use it to keep
// reports between encoding and aggregating, or to hand them to a batch engine. Start with
// [NewWriter] and [NewReader].
//
// # Format
//
// A file holds eight bytes that name the format and its version ("hgrpts1\n"), the 32
// bytes of the round's digest ([fl.Round.Digest]), and then the reports one after the
// other, each behind its length as an unsigned varint. The digest keeps reports from being
// counted in a round that they were not made for.
package reportfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	magic      = "hgrpts1\n"
	bufferSize = 1 << 16

	// MaxReportBytes is the length of the longest report that a file may hold.
	MaxReportBytes = 1 << 26
)

// Writer writes a file of reports. It is not safe for concurrent use.
type Writer struct{ w *bufio.Writer }

// NewWriter writes the head of a file for the reports of a complete round. The caller
// closes w, after Flush.
func NewWriter(w io.Writer, r fl.Round) (*Writer, error) {
	digest, err := r.Digest()
	if err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	buffered := bufio.NewWriterSize(w, bufferSize)
	if _, err := buffered.Write(append([]byte(magic), digest[:]...)); err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	return &Writer{buffered}, nil
}

// Write appends one report, of at most MaxReportBytes.
func (w *Writer) Write(report []byte) error {
	if len(report) > MaxReportBytes {
		return fmt.Errorf("reportfile: %w", fl.Invalid("report", fmt.Sprintf("%d bytes", len(report)), "must have at most %d", MaxReportBytes))
	}
	_, err := w.w.Write(binary.AppendUvarint(nil, uint64(len(report))))
	if err == nil {
		_, err = w.w.Write(report)
	}
	if err != nil {
		return fmt.Errorf("reportfile: %w", err)
	}
	return nil
}

// Flush hands everything that was written to the underlying writer.
func (w *Writer) Flush() error {
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("reportfile: %w", err)
	}
	return nil
}

// Reader reads a file of reports. It is not safe for concurrent use.
type Reader struct {
	r    *bufio.Reader
	read int // reports so far
	body bytes.Buffer
}

// NewReader reads the head of a file. The error is a *fl.ParamError, wrapped, when r is
// not a file of reports or holds those of another round.
func NewReader(r io.Reader, round fl.Round) (*Reader, error) {
	digest, err := round.Digest()
	if err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	buffered := bufio.NewReaderSize(r, bufferSize)
	head := make([]byte, len(magic)+len(digest))
	if n, err := io.ReadFull(buffered, head); err != nil || string(head[:len(magic)]) != magic {
		return nil, fmt.Errorf("reportfile: %w", fl.Invalid("file", fmt.Sprintf("%d bytes %x", n, head[:min(n, len(magic))]), "must begin with %x and a digest", magic))
	}
	if got := head[len(magic):]; !bytes.Equal(got, digest[:]) {
		return nil, fmt.Errorf("reportfile: %w", fl.Invalid("file", fmt.Sprintf("reports of a round with digest %x…", got[:8]), "must hold reports of this round, %x…", digest[:8]))
	}
	return &Reader{r: buffered}, nil
}

// Next returns the next report, which is the caller's, and io.EOF after the last one. Any
// other error says at which report the file is damaged. It allocates what the file holds
// and not what it announces.
func (r *Reader) Next() ([]byte, error) {
	size, err := binary.ReadUvarint(r.r)
	switch {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, r.damaged(err)
	case size > MaxReportBytes:
		return nil, r.damaged(fl.Invalid("length", size, "must be at most %d", MaxReportBytes))
	}
	r.body.Reset()
	if _, err := io.CopyN(&r.body, r.r, int64(size)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, r.damaged(err)
	}
	r.read++
	return bytes.Clone(r.body.Bytes()), nil
}

func (r *Reader) damaged(err error) error {
	return fmt.Errorf("reportfile: report %d: %w", r.read, err)
}
