package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hushgrad/hushgrad/fl"
)

// A reports file holds reports of one round: eight bytes that name the format and
// its version, the round's digest, and the reports, each after its length as an
// uvarint.
var reportsMagic = []byte("hgrpts1\n")

// maxFileReport bounds one report in a file.
const maxFileReport = 1 << 26

// reportWriter writes a reports file.
type reportWriter struct{ w *bufio.Writer }

func newReportWriter(w io.Writer, digest [32]byte) (*reportWriter, error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	_, err := buffered.Write(append(bytes.Clone(reportsMagic), digest[:]...))
	return &reportWriter{buffered}, err
}

func (r *reportWriter) write(report []byte) error {
	_, err := r.w.Write(binary.AppendUvarint(nil, uint64(len(report))))
	if err == nil {
		_, err = r.w.Write(report)
	}
	return err
}

// readReports calls take with each report of a file, in batches.
func readReports(in io.Reader, name string, digest [32]byte, take func([][]byte) error) error {
	r := bufio.NewReaderSize(in, 1<<16)
	header := make([]byte, len(reportsMagic)+len(digest))
	if _, err := io.ReadFull(r, header); err != nil || !bytes.HasPrefix(header, reportsMagic) {
		return fl.Invalid("file", name, "must be a reports file, as hushgrad encode writes it")
	}
	if got := header[len(reportsMagic):]; !bytes.Equal(got, digest[:]) {
		return fl.Invalid("file", name, "must hold reports of this round: its digest is %x…, the round's %x…", got[:8], digest[:8])
	}
	const batchReports = 4096
	var batch [][]byte
	for number := 0; ; number++ {
		size, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || size > maxFileReport {
			return fmt.Errorf("%s: report %d: broken length", name, number)
		}
		report := make([]byte, size)
		if _, err := io.ReadFull(r, report); err != nil {
			return fmt.Errorf("%s: report %d: %w", name, number, err)
		}
		if batch = append(batch, report); len(batch) == batchReports {
			if err := take(batch); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			batch = batch[:0]
		}
	}
	if len(batch) == 0 {
		return nil
	}
	if err := take(batch); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
