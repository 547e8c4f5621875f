package reportfile

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// Writer writes a file of reports. It is not safe for concurrent use.
type Writer struct {
	w       *bufio.Writer
	hash    hash.Hash
	written uint64 // reports
	closed  bool
}

// NewWriter writes the head of a file for the reports of a complete round. The file is
// complete after Close.
func NewWriter(w io.Writer, r fl.Round) (*Writer, error) {
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return newWriter(w, r, 0, id)
}

// NewSeededWriter is NewWriter for reports whose randomness came from a seed, and which
// therefore promise nothing. The same reports give the same file.
func NewSeededWriter(w io.Writer, r fl.Round) (*Writer, error) {
	return newWriter(w, r, 1, [idBytes]byte{})
}

func newWriter(out io.Writer, r fl.Round, seeded byte, id [idBytes]byte) (*Writer, error) {
	head, err := start(r)
	if err != nil {
		return nil, fmt.Errorf("reportfile: %w", err)
	}
	w := &Writer{w: bufio.NewWriterSize(out, bufferSize), hash: sha256.New()}
	return w, w.write(append(append(head, seeded), id[:]...))
}

// Write appends one report, of at most MaxReportBytes.
func (w *Writer) Write(report []byte) error {
	if w.closed {
		return errors.New("reportfile: write after Close")
	}
	if len(report) > MaxReportBytes {
		return fmt.Errorf("reportfile: %w", fl.Invalid("report", fmt.Sprintf("%d bytes", len(report)), "must have at most %d", MaxReportBytes))
	}
	err := w.write(binary.AppendUvarint(nil, uint64(len(report))+1))
	if err == nil {
		err = w.write(report)
	}
	if err == nil {
		w.written++
	}
	return err
}

// Close writes the trailer and hands everything to the underlying writer, which it does not
// close. A file without it is refused by a Reader.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if err := w.write(binary.LittleEndian.AppendUint64([]byte{0}, w.written)); err != nil {
		return err
	}
	if err := w.write(w.hash.Sum(nil)); err != nil {
		return err
	}
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("reportfile: %w", err)
	}
	return nil
}

func (w *Writer) write(b []byte) error {
	_, _ = w.hash.Write(b) // never fails
	if _, err := w.w.Write(b); err != nil {
		return fmt.Errorf("reportfile: %w", err)
	}
	return nil
}
