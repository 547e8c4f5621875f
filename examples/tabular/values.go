package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/fl"
)

// Limits of columns with many values.
const (
	maxValues       = 1000    // that a column becomes
	maxHashedValues = 10_000  // in a file whose values share buckets
	maxValuesBytes  = 4 << 20 // of a file
	maxCounted      = 100_000 // values of rows, to say how many share a bucket
)

// parseValues reads "@cities.txt", "#64" or "@cities.txt#64".
func (c *column) parseValues(flag, field, known string) error {
	path, buckets, hashed := known, "", false
	if i := strings.LastIndexByte(known, '#'); i >= 0 && strings.Trim(known[i+1:], "0123456789 ") == "" {
		path, buckets, hashed = known[:i], known[i+1:], true
	}
	if hashed {
		n, err := strconv.Atoi(strings.TrimSpace(buckets))
		if c.buckets = n; err != nil || n < 2 || n > maxValues {
			return fl.Invalid(flag, shortened(field), "must have from 2 to %d buckets behind the #: type %s#64", maxValues, shortened(c.name+"="+path))
		}
	}
	switch {
	case path == "":
		return nil
	case path[0] != '@':
		return fl.Invalid(flag, shortened(field), "must have a number of buckets behind the #, from 2 to %d: type %s=#64", maxValues, c.name)
	}
	most := maxValues
	if hashed {
		most = maxHashedValues
	}
	c.file = strings.TrimSpace(strings.TrimPrefix(path, "@"))
	f, err := os.Open(c.file)
	if err != nil {
		return fl.Invalid(flag, shortened(field), "must name a file with a value in each line behind the @: %v", err)
	}
	defer f.Close()
	if c.values, err = readValues(f, most); err != nil {
		more := ""
		if errors.Is(err, errManyValues) && !hashed {
			more = fmt.Sprintf(": type %s#64 to have them share 64 buckets", shortened(field))
		}
		return fl.Invalid(flag, shortened(field), "must name a file with from 2 to %d values, one in each line: %v%s", most, err, more)
	}
	c.index()
	return nil
}

var errManyValues = errors.New("it has more")

// readValues reads a value from each line. Empty lines are none.
func readValues(r io.Reader, most int) (values []string, err error) {
	limited := &io.LimitedReader{R: r, N: maxValuesBytes + 1}
	lines, seen := bufio.NewScanner(limited), map[string]bool{}
	for line := 1; lines.Scan(); line++ {
		value := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // a mark of spreadsheets
		switch {
		case value == "":
			continue
		case !utf8.ValidString(value):
			return nil, fmt.Errorf("line %d is not UTF-8", line)
		case seen[value]:
			return nil, fmt.Errorf("line %d repeats %s", line, shortened(value))
		case len(values) == most:
			return nil, errManyValues
		}
		seen[value] = true
		values = append(values, value)
	}
	switch {
	case lines.Err() != nil:
		return nil, lines.Err()
	case limited.N == 0:
		return nil, fmt.Errorf("it has more than %d bytes", maxValuesBytes)
	case len(values) < 2:
		return nil, fmt.Errorf("it has %d", len(values))
	}
	return values, nil
}

// bucket is the bucket of a value: the first eight bytes of SHA-256 of the column's name, a zero byte and the value, a big-endian number, modulo the
// number of buckets. Everybody can compute it.
func (c column) bucket(value string) int {
	sum := sha256.Sum256([]byte(c.name + "\x00" + value))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(c.buckets))
}

// isNumber says whether the column has a range, and not values.
func (c column) isNumber() bool { return c.values == nil && c.buckets == 0 }

// placeOf returns the place of a cell among the values that the column becomes.
func (c column) placeOf(cell string) (place int, known bool) {
	value := strings.TrimSpace(cell)
	if place, known = c.at[value]; c.buckets > 0 && (known || c.values == nil) {
		return c.bucket(value), value != ""
	}
	return place, known
}

// index makes the values known by their places.
func (c *column) index() {
	c.at = map[string]int{}
	for i, v := range c.values {
		c.at[v] = i
	}
}

// sharing is the number of values that share their bucket with others.
func (c column) sharing(values []string) (n int) {
	in := make([]int, c.buckets)
	for _, v := range values {
		in[c.bucket(v)]++
	}
	for _, k := range in {
		if k > 1 {
			n += k
		}
	}
	return n
}

// hashed counts the values of columns with buckets, to say what is lost. A simulation holds all rows and can count.
type hashed struct {
	columns []column
	seen    []map[string]bool // by column; nil where the values are declared
}

func newHashed(s schema) *hashed {
	h := &hashed{columns: s.inputs, seen: make([]map[string]bool, len(s.inputs))}
	for i, c := range s.inputs {
		if c.buckets > 0 && c.values == nil {
			h.seen[i] = map[string]bool{}
		}
	}
	return h
}

// add counts the cells of a row. Cells are copied.
func (h *hashed) add(cells []string) {
	for i, seen := range h.seen {
		if seen == nil || len(seen) == maxCounted {
			continue
		}
		if value := strings.TrimSpace(cells[i]); value != "" && !seen[value] {
			seen[strings.Clone(value)] = true
		}
	}
}

// sentences say what is lost in buckets.
func (h *hashed) sentences() (out []string) {
	for i, c := range h.columns {
		if c.buckets == 0 {
			continue
		}
		values, from, unseen := c.values, c.file+" has", ""
		if values == nil {
			for v := range h.seen[i] {
				values = append(values, v)
			}
			from, unseen = "These rows have", " A misspelt value gets a bucket, too, and cannot be counted."
		}
		count := strconv.Itoa(len(values))
		if len(values) == maxCounted {
			count = "at least " + count
		}
		out = append(out, fmt.Sprintf("%s has %d buckets. Values in one bucket have one coefficient, as if they were one value. %s %s values, and %d of them share a bucket.%s",
			c.name, c.buckets, from, count, c.sharing(values), unseen))
	}
	return out
}
