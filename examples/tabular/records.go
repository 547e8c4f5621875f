package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// records are the rows of a CSV stream below its header, as cells of some columns.
type records struct {
	csv     *csv.Reader
	bytes   *bounded
	columns []column
	at      []int // where the columns stand in a row
	cells   []string
	line    int // of the newest row
}

// separators are the usual ones.
const separators = ",;\t|"

// typed is a separator as a shell takes it for --separator.
func typed(separator rune) string {
	if separator == '\t' {
		return "tab"
	}
	return "'" + string(separator) + "'"
}

// parseSeparator reads the flag --separator.
func parseSeparator(text string) (rune, error) {
	if text == "tab" || text == `\t` {
		text = "\t"
	}
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 || size < len(text) || r == utf8.RuneError || strings.ContainsRune("\"\r\n\x00", r) {
		return 0, fl.Invalid("--separator", text, "must be one character, such as ';', or tab")
	}
	return r, nil
}

// headBytes are looked at before the stream is read as CSV.
const headBytes = 1 << 16

const notUTF8 = "must be UTF-8: convert the file, such as with iconv -f latin1 -t utf-8"

// utf16 are the marks that begin a file with two bytes a letter.
var utf16 = []string{"\xff\xfe", "\xfe\xff"}

// newRecords reads the header. Another separator that fits it better is taken where either will do, and refused where not.
func newRecords(r io.Reader, separator rune, either bool, columns []column) (*records, error) {
	buffered := bufio.NewReaderSize(r, headBytes)
	head, err := buffered.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	first, _, _ := strings.Cut(string(head), "\n")
	const mark = "\ufeff" // of spreadsheets
	if strings.HasPrefix(first, mark) {
		_, _ = buffered.Discard(len(mark))
		first = first[len(mark):]
	}
	if slices.ContainsFunc(utf16, func(mark string) bool { return strings.HasPrefix(first, mark) }) {
		return nil, fl.Invalid("header", shortened(first), "must be UTF-8: convert the file with iconv -f utf-16 -t utf-8")
	}
	if strings.Contains(strings.TrimSuffix(first, "\r"), "\r") {
		return nil, fl.Invalid("header", shortened(first), "must end with a line feed, and has a carriage return alone: save the file with line ends of Unix or Windows")
	}
	if other, better := otherSeparator(first, separator, columns); better && either {
		separator = other
	} else if better {
		return nil, fl.Invalid("header", shortened(strings.TrimSpace(first)), "must have cells between %s: type --separator %s", typed(separator), typed(other))
	}
	in := &records{bytes: &bounded{from: buffered, all: maxFileBytes}, columns: columns, cells: make([]string, len(columns))}
	in.csv = csv.NewReader(in.bytes)
	in.csv.Comma, in.csv.ReuseRecord = separator, true
	header, err := in.read()
	if errors.Is(err, io.EOF) {
		return nil, fl.Invalid("header", "nothing", "must name the columns")
	}
	if err != nil {
		return nil, err
	}
	return in, in.find(trimmed(header))
}

// otherSeparator returns the usual separator with which a header has more of the columns.
func otherSeparator(header string, separator rune, columns []column) (other rune, better bool) {
	found := func(separator rune) (n int) {
		line := csv.NewReader(strings.NewReader(header))
		line.Comma, line.LazyQuotes = separator, true
		names, _ := line.Read() // what is no CSV has no columns
		for _, c := range columns {
			if slices.ContainsFunc(trimmed(names), func(name string) bool { return strings.EqualFold(name, c.name) }) {
				n++
			}
		}
		return n
	}
	other, most := separator, found(separator)
	for _, s := range separators {
		if n := found(s); n > most {
			other, most = s, n
		}
	}
	return other, other != separator
}

func trimmed(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.TrimSpace(name)
	}
	return out
}

// find looks for the columns in the header.
func (in *records) find(header []string) error {
	for _, c := range in.columns {
		i := slices.Index(header, c.name)
		all := strings.Join(header, ",")
		switch {
		case !utf8.ValidString(all):
			return fl.Invalid("header", shortened(all), notUTF8)
		case i < 0:
			similar := command.Similar(header, c.name)
			for k, name := range similar {
				similar[k] = strconv.Quote(name)
			}
			return fl.Invalid("header", shortened(all), "must have the column %q%s", c.name, command.Meant(similar))
		case slices.Contains(header[i+1:], c.name):
			return fl.Invalid("header", shortened(all), "must have the column %q once: rename one of them in the file", c.name)
		}
		in.at = append(in.at, i)
	}
	return nil
}

// next returns the cells of the next row in the order of the columns, until the next call, and the
// row's line.
func (in *records) next() (cells []string, line int, err error) {
	record, err := in.read()
	if err != nil {
		return nil, 0, err
	}
	for i, k := range in.at {
		if in.cells[i] = record[k]; !utf8.ValidString(record[k]) {
			return nil, 0, fl.Invalid(fmt.Sprintf("line %d, column %s", in.line, in.columns[i].name), shortened(record[k]), notUTF8)
		}
	}
	return in.cells, in.line, nil
}

// read returns the next record.
func (in *records) read() ([]string, error) {
	in.bytes.left = maxRowBytes
	record, err := in.csv.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, errTooLong):
		return nil, fl.Invalid("row", fmt.Sprintf("more than %d bytes", maxRowBytes), "must end before that: is a quote missing in line %d or below?", in.line+1)
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &wrong):
		return nil, fl.Invalid(fmt.Sprintf("line %d", wrong.StartLine), fmt.Sprintf("%d cells", len(record)), "must have as many as the header, %d: a cell with %s in it needs quotes",
			in.csv.FieldsPerRecord, typed(in.csv.Comma))
	case errors.As(err, &wrong):
		return nil, fl.Invalid(fmt.Sprintf("line %d", wrong.StartLine), wrong.Err, "must be CSV: a cell with a quote in it needs quotes around it, and its own quotes twice")
	case err != nil:
		return nil, err
	}
	in.line, _ = in.csv.FieldPos(0)
	return record, nil
}

// bounded reads a row until it has read what is left for it, and all rows until it has read all.
type bounded struct {
	from io.Reader
	left int
	all  int64
}

var errTooLong = errors.New("a row is too long")

func (b *bounded) Read(p []byte) (int, error) {
	switch {
	case b.left <= 0:
		return 0, errTooLong
	case b.all <= 0:
		return 0, fl.Invalid("--data", fmt.Sprintf("more than %d bytes", int64(maxFileBytes)), "must end before that")
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.all -= int64(n)
	return n, err
}
