package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// column is what everybody knows about a column before anybody's row is seen: a range of numbers,
// or a list of values. Ranges that came from the rows themselves would need a budget of their own.
type column struct {
	name      string
	low, high float64  // of numbers
	values    []string // of a list; nil for numbers
}

// limits of a description.
const (
	maxColumns = 1000
	maxValues  = 1000 // of a list
)

// parseColumns reads "age=17..90,sector=public|private".
func parseColumns(flag, text string) ([]column, error) {
	var columns []column
	for field := range strings.SplitSeq(text, ",") {
		c, ok := parseColumn(field)
		if !ok {
			return nil, fl.Invalid(flag, field, `must be columns like "age=17..90" or "sector=public|private", between commas`)
		}
		if slices.ContainsFunc(columns, func(o column) bool { return o.name == c.name }) {
			return nil, fl.Invalid(flag, c.name, "must name each column once")
		}
		if columns = append(columns, c); len(columns) > maxColumns {
			return nil, fl.Invalid(flag, len(columns), "must have at most %d columns", maxColumns)
		}
	}
	return columns, nil
}

func parseColumn(field string) (c column, ok bool) {
	var known string
	if c.name, known, ok = strings.Cut(field, "="); !ok || strings.TrimSpace(c.name) == "" {
		return c, false
	}
	c.name = strings.TrimSpace(c.name)
	low, high, isRange := strings.Cut(known, "..")
	if isRange {
		var errLow, errHigh error
		c.low, errLow = number(low)
		c.high, errHigh = number(high)
		return c, errLow == nil && errHigh == nil && c.low < c.high && !math.IsInf(c.high-c.low, 0)
	}
	for value := range strings.SplitSeq(known, "|") {
		value = strings.TrimSpace(value)
		if value == "" || slices.Contains(c.values, value) {
			return c, false
		}
		c.values = append(c.values, value)
	}
	return c, len(c.values) >= 2 && len(c.values) <= maxValues
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// width is the number of values that a column becomes.
func (c column) width() int { return max(1, len(c.values)) }

// encode writes what a cell becomes: for a number its place in the range, from −1 to 1, and for a
// value of a list a 1 at its place. What is missing, unreadable or not in the list becomes
// zeros: whether a client takes part must not depend on its row.
func (c column) encode(dst []float64, cell string) {
	clear(dst)
	if c.values != nil {
		if i := slices.Index(c.values, strings.TrimSpace(cell)); i >= 0 {
			dst[i] = 1
		}
		return
	}
	if v, err := number(cell); err == nil {
		dst[0] = 2*(min(max(v, c.low), c.high)-c.low)/(c.high-c.low) - 1
	}
}

// names are the names of the values that a column becomes.
func (c column) names() []string {
	if c.values == nil {
		return []string{c.name}
	}
	var names []string
	for _, v := range c.values {
		names = append(names, c.name+"="+v)
	}
	return names
}

// schema is what everybody knows about a table.
type schema struct {
	inputs []column
	target column
}

// parseSchema reads the flags -columns and -target. A column of both is the target alone.
func parseSchema(columns, target string) (s schema, err error) {
	if s.inputs, err = parseColumns("-columns", columns); err != nil {
		return s, err
	}
	targets, err := parseColumns("-target", target)
	if err != nil {
		return s, err
	}
	if len(targets) != 1 {
		return s, fl.Invalid("-target", target, "must be one column")
	}
	s.target = targets[0]
	s.inputs = slices.DeleteFunc(s.inputs, func(c column) bool { return c.name == s.target.name })
	if len(s.inputs) == 0 {
		return s, fl.Invalid("-columns", columns, "must have a column beside the target")
	}
	return s, nil
}

// width is the number of values of a row.
func (s schema) width() int {
	n := 0
	for _, c := range s.inputs {
		n += c.width()
	}
	return n
}

// names are the names of a row's values.
func (s schema) names() (names []string) {
	for _, c := range s.inputs {
		names = append(names, c.names()...)
	}
	return names
}

// row returns the values of a row, whose Euclidean norm is at most 1, and its target: from −1 to 1
// for a number, the place in the list for a value. A number that is missing or unreadable counts
// as the middle of the range, and a value that is not in the list as the first. cell returns the
// cell of a column.
func (s schema) row(cell func(name string) string) (x []float64, y float64) {
	x = make([]float64, s.width())
	at := 0
	for _, c := range s.inputs {
		c.encode(x[at:at+c.width()], cell(c.name))
		at += c.width()
	}
	norm := math.Sqrt(float64(len(s.inputs)))
	for i := range x {
		x[i] /= norm
	}
	if s.target.values != nil {
		return x, float64(max(0, slices.Index(s.target.values, strings.TrimSpace(cell(s.target.name)))))
	}
	var scaled [1]float64
	s.target.encode(scaled[:], cell(s.target.name))
	return x, scaled[0]
}
