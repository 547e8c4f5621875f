// Package npy writes and reads vectors of float64 as NumPy's .npy files. Use it for models and
// estimates that other programs read. Start with [Write] and [Read].
package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The .npy format, version 1.0, of one-dimensional little-endian float64
// arrays (NumPy Enhancement Proposal 1, "A simple file format for NumPy
// arrays", and numpy.lib.format): magic string, version, header length as a
// little-endian uint16, a Python dictionary padded with spaces and ended by a
// newline, and the elements. Gorgonia's own WriteNpy leaves out the newline
// and its ReadNpy panics on a negative size, so neither is used.
const (
	magic     = "\x93NUMPY\x01\x00"
	alignment = 64 // of the elements; what NumPy itself writes
)

// Write writes v. O(len(v)).
func Write(w io.Writer, v []float64) error {
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", len(v))
	used := len(magic) + 2 + len(dict) + 1
	header := dict + strings.Repeat(" ", alignment-used%alignment) + "\n"

	b := make([]byte, 0, len(magic)+2+len(header)+8*len(v))
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b = append(b, header...)
	for _, e := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e))
	}
	_, err := w.Write(b)
	return err
}

// Read reads an array of want elements and nothing after it. The memory it
// needs depends on want only, whatever the header claims.
func Read(r io.Reader, want int) ([]float64, error) {
	var start [len(magic) + 2]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return nil, fmt.Errorf("header: %w", short(err))
	}
	if got := string(start[:len(magic)]); got != magic {
		return nil, fmt.Errorf("magic string: got %q, rule: must be %q", got, magic)
	}
	header := make([]byte, binary.LittleEndian.Uint16(start[len(magic):]))
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("header: %w", short(err))
	}
	if err := checkHeader(string(header), want); err != nil {
		return nil, err
	}
	b := make([]byte, 8*want)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("elements: %w", short(err))
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil:
		return nil, fmt.Errorf("got bytes after the last of %d elements, rule: must be the end", want)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("end: %w", err)
	}
	v := make([]float64, want)
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return v, nil
}

// short turns io.EOF, where bytes are missing, into io.ErrUnexpectedEOF.
func short(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// item matches one item of the header's dictionary. Readers must not depend
// on the order of the keys.
var item = regexp.MustCompile(`^\s*'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\(\s*\d+\s*,\s*\))\s*(,|$)`)

// checkHeader says whether the header describes a vector of want
// little-endian float64. Its fortran_order may be either: it does not change
// the bytes of a vector.
func checkHeader(header string, want int) error {
	body, ok := strings.CutSuffix(strings.TrimRight(strings.TrimSuffix(header, "\n"), " "), "}")
	if ok {
		body, ok = strings.CutPrefix(body, "{")
	}
	if !ok || !strings.HasSuffix(header, "\n") {
		return fmt.Errorf("header: got %q, rule: must be a dictionary and a newline", header)
	}
	items := make(map[string]string)
	for strings.TrimSpace(body) != "" {
		m := item.FindStringSubmatch(body)
		if m == nil {
			return fmt.Errorf("header: got %q, rule: must have items 'descr', 'fortran_order' and 'shape' of a vector", header)
		}
		if _, twice := items[m[1]]; twice {
			return fmt.Errorf("header: got %q twice, rule: must be there once", m[1])
		}
		items[m[1]] = m[2]
		body = body[len(m[0]):]
	}
	if got := items["descr"]; got != "'<f8'" {
		return fmt.Errorf("descr: got %s, rule: must be '<f8'", got)
	}
	if got := items["fortran_order"]; got != "True" && got != "False" {
		return fmt.Errorf("fortran_order: got %s, rule: must be True or False", got)
	}
	if got := strings.Trim(items["shape"], "(), "); got != strconv.Itoa(want) {
		return fmt.Errorf("shape: got %s, rule: must be (%d,)", items["shape"], want)
	}
	return nil
}
