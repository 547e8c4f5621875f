package shufflesum

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
)

// Limits of a file of values. A value takes 8 bytes while it is read.
const (
	maxValues = 50_000_000
	maxBound  = 1 << 30
	maxLine   = 64 // bytes
)

// readValues reads a file with one integer in {0, …, bound} per line.
func readValues(path string, bound int64) (population, error) {
	if bound < 1 || bound > maxBound {
		return nil, fl.Invalid("--bound", bound, "must be in [1, %d]", int64(maxBound))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--values: %w", err)
	}
	defer file.Close()
	p, err := parseValues(file, bound, maxValues)
	if err != nil {
		return nil, fmt.Errorf("--values %s: %w", path, err)
	}
	return p, nil
}

// parseValues counts the values. Its memory grows with what has been read, up to most values.
func parseValues(r io.Reader, bound int64, most int) (population, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	var values []int64
	for lines.Scan() {
		if len(values) == most {
			return nil, fl.Invalid("values", fmt.Sprintf("more than %d", most), "must be at most %d", most)
		}
		text := strings.TrimSpace(lines.Text())
		x, err := strconv.ParseInt(text, 10, 64)
		if err != nil || x < 0 || x > bound {
			return nil, fl.Invalid(fmt.Sprintf("line %d", len(values)+1), strconv.Quote(text), "must be an integer in [0, %d]", bound)
		}
		values = append(values, x)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fl.Invalid(fmt.Sprintf("line %d", len(values)+1), "a longer one", "must have at most %d bytes", maxLine-1)
	} else if err != nil {
		return nil, err
	}
	if len(values) < 2 {
		return nil, fl.Invalid("values", len(values), "must be at least 2")
	}
	p := counted(values)
	if p.total() == 0 {
		return nil, fl.Invalid("values", "all 0", "must have one that is not: errors are relative to the sum")
	}
	return p, nil
}

// counted counts the clients of each value. It sorts values.
func counted(values []int64) population {
	slices.Sort(values)
	var p population
	for _, v := range values {
		if last := len(p) - 1; last >= 0 && p[last].Value == v {
			p[last].Clients++
			continue
		}
		p = append(p, hdsum.Count{Value: v, Clients: 1})
	}
	return p
}
