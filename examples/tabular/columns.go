package main

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// column is what everybody knows about a column before anybody's row is seen: a range of numbers,
// or a list of values. Ranges that came from the rows themselves would need a budget of their own.
type column struct {
	name           string
	low, high      float64        // of numbers
	centre, spread float64        // of numbers, where they are known; a spread of 0: they are not
	log            bool           // numbers are many small and few large ones: their logarithms are learnt from
	values         []string       // of a list; nil for numbers, and where any value has a bucket
	at             map[string]int // the place of each value
	file           string         // that lists the values; empty: the flag does
	buckets        int            // that values share by a public hash; 0: each value has a place of its own
}

const maxColumns = 1000 // of a description

// parseColumns reads "age=17..90~40±15,income=0..1e6~log,sector=public|private,city=@cities.txt,street=#64".
func parseColumns(flag, text string) ([]column, error) {
	var columns []column
	for field := range strings.SplitSeq(text, ",") {
		c, err := parseColumn(flag, field)
		if err != nil {
			return nil, err
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

func parseColumn(flag, field string) (column, error) {
	name, known, described := strings.Cut(field, "=")
	c := column{name: strings.TrimSpace(name)}
	if !described && c.name != "" {
		return c, fl.Invalid(flag, shortened(field), "must say what is in the column: type %s=LOW..HIGH for numbers, or %s=A|B with its values", shortened(c.name), shortened(c.name))
	}
	if !described || c.name == "" {
		return c, fl.Invalid(flag, shortened(field), `must be columns like "age=17..90" or "sector=public|private", between commas`)
	}
	if known = strings.TrimSpace(known); strings.HasPrefix(known, "@") || strings.HasPrefix(known, "#") {
		err := c.parseValues(flag, field, known)
		return c, err
	}
	if low, high, isRange := strings.Cut(known, ".."); isRange {
		err := c.parseRange(flag, field, low, high)
		return c, err
	}
	err := c.parseList(flag, field, known)
	return c, err
}

var (
	// nextColumn is where a column begins behind anything else than a comma.
	nextColumn = regexp.MustCompile(`\s*[;\s]\s*([^=;\s]+=)`)
	// otherRange is a range with anything else than .. between its ends.
	otherRange = regexp.MustCompile(`^\s*(-?[0-9.]+)\s*(?:-|–|:|to)\s*(-?[0-9.]+)\s*$`)
)

func (c *column) parseRange(flag, field, low, high string) error {
	var errLow, errHigh error
	high, more, isMore := strings.Cut(high, "~")
	c.low, errLow = number(low)
	c.high, errHigh = number(high)
	switch {
	case (errLow != nil || errHigh != nil) && nextColumn.MatchString(field):
		return fl.Invalid(flag, shortened(field), "must have commas between columns: type %s", shortened(nextColumn.ReplaceAllString(field, ",$1")))
	case errLow != nil || errHigh != nil:
		return fl.Invalid(flag, shortened(field), "must be two numbers with .. between them, such as %s=0..100", c.name)
	case c.low > c.high:
		return fl.Invalid(flag, shortened(field), "must begin with the smaller number: type %s=%s..%s", c.name, text(c.high), text(c.low))
	case c.low == c.high || math.IsInf(c.high-c.low, 0):
		return fl.Invalid(flag, shortened(field), "must be a range from one number to a larger one, and the difference must be a float64")
	}
	if isMore {
		return c.parseMore(flag, field, more)
	}
	return nil
}

// logWord stands behind the range of a column whose logarithms are learnt from.
const logWord = "log"

// parseMore reads what is known beside the range: "40±15", "40+-15" or "log".
func (c *column) parseMore(flag, field, more string) error {
	if c.log = strings.TrimSpace(more) == logWord; c.log {
		return nil
	}
	centre, spread, _ := strings.Cut(strings.Replace(more, "+-", "±", 1), "±")
	var wrong [2]error
	c.centre, wrong[0] = number(centre)
	c.spread, wrong[1] = number(spread)
	switch example := fmt.Sprintf("%s=%s..%s~%s±%s", c.name, text(c.low), text(c.high), text((c.low+c.high)/2), text((c.high-c.low)/6)); {
	case wrong[0] != nil || wrong[1] != nil:
		return fl.Invalid(flag, shortened(field), "must have a mean and a spread, or log, behind the ~: type %s, or with +- for ±, or %s=%s..%s~%s", example, c.name, text(c.low), text(c.high), logWord)
	case c.centre < c.low || c.centre > c.high:
		return fl.Invalid(flag, shortened(field), "must have a mean within the range: type %s", example)
	case !(c.spread >= (c.high-c.low)*leastSpread && c.spread <= c.high-c.low):
		return fl.Invalid(flag, shortened(field), "must have a spread from %s to %s, a share of the range: type %s", text((c.high-c.low)*leastSpread), text(c.high-c.low), example)
	}
	return nil
}

func (c *column) parseList(flag, field, known string) error {
	for value := range strings.SplitSeq(known, "|") {
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			return fl.Invalid(flag, shortened(field), "must have a value on both sides of each |: type %s=a|b, or a range such as %s=0..100", c.name, c.name)
		case slices.Contains(c.values, value):
			return fl.Invalid(flag, shortened(field), "must list each value once, and %s is there twice", value)
		}
		c.values = append(c.values, value)
	}
	if ends := otherRange.FindStringSubmatch(known); ends != nil {
		return fl.Invalid(flag, shortened(field), "must have .. between the ends of a range: type %s=%s..%s", c.name, ends[1], ends[2])
	}
	if n := len(c.values); n < 2 || n > maxValues {
		buckets := ""
		if flag == "--columns" {
			buckets = fmt.Sprintf(", or %s=#64 to have any values share 64 buckets", c.name)
		}
		return fl.Invalid(flag, shortened(field), "must list from 2 to %d values, and lists %d: type \"%s=a|b\", with the quotes, or a range such as %s=0..100%s", maxValues, n, c.name, c.name, buckets)
	}
	c.index()
	return nil
}

func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = strconv.ErrRange
	}
	return v, err
}

// width is the number of values that a column becomes.
func (c column) width() int {
	if c.buckets > 0 {
		return c.buckets
	}
	return max(1, len(c.values))
}

// fit says how a cell fits what is public about its column.
type fit int

const (
	fits    fit = iota
	clipped     // a number beyond its range: the nearest end stands for it
	ignored     // missing, unreadable or not in the list: zeros stand for it
)

// encode writes what a cell becomes: for a number its place in the range, from −1 to 1, or NaN where it is not known, and for a value
// of a list a 1 at its place. A cell that does not fit becomes numbers, too: whether a client takes part must not depend on its row.
func (c column) encode(dst []float64, cell string) fit {
	clear(dst)
	if !c.isNumber() {
		i, known := c.placeOf(cell)
		if !known {
			return ignored
		}
		dst[i] = 1
		return fits
	}
	v, err := number(cell)
	if err != nil {
		dst[0] = math.NaN()
		return ignored
	}
	inside := min(max(v, c.low), c.high)
	dst[0] = c.place(inside)
	if inside != v {
		return clipped
	}
	return fits
}

// smallest is the share of a range below which logarithms are about linear.
const smallest = 1e-3

// place is the place of a number in its range, from −1 to 1.
func (c column) place(v float64) float64 {
	share := (v - c.low) / (c.high - c.low)
	if c.log {
		share = math.Log1p(share/smallest) / math.Log1p(1/smallest)
	}
	return 2*share - 1
}

// String returns the column as --columns and --target have it.
func (c column) String() string {
	switch known := fmt.Sprintf("%s=%s..%s", c.name, text(c.low), text(c.high)); {
	case c.file != "" && c.buckets > 0:
		return fmt.Sprintf("%s=@%s#%d", c.name, c.file, c.buckets)
	case c.file != "":
		return c.name + "=@" + c.file
	case c.buckets > 0:
		return fmt.Sprintf("%s=#%d", c.name, c.buckets)
	case c.values != nil:
		return c.name + "=" + strings.Join(c.values, "|")
	case c.log:
		return known + "~" + logWord
	case c.spread > 0:
		return fmt.Sprintf("%s~%s±%s", known, text(c.centre), text(c.spread))
	default:
		return known
	}
}

// names are the names of the values that a column becomes.
func (c column) names() (names []string) {
	if c.isNumber() {
		return []string{c.name}
	}
	for i := range c.buckets {
		names = append(names, fmt.Sprintf("%s#%d", c.name, i))
	}
	if names != nil {
		return names
	}
	for _, v := range c.values {
		names = append(names, c.name+"="+v)
	}
	return names
}

// schema is what everybody knows about a table.
type schema struct {
	inputs []column
	target column
	expand expansion
}

// parseSchema reads the flags --columns and --target. A column of both is the target alone.
func parseSchema(columns, target string) (s schema, err error) {
	if s.inputs, err = parseColumns("--columns", columns); err != nil {
		return s, err
	}
	targets, err := parseColumns("--target", target)
	if err != nil {
		return s, err
	}
	if len(targets) != 1 {
		return s, fl.Invalid("--target", target, "must be one column")
	}
	if s.target = targets[0]; s.target.buckets > 0 {
		return s, fl.Invalid("--target", shortened(target), "must list its values: type a|b or @FILE, without #. A model that predicts a bucket does not say which value is meant")
	}
	if s.target.log {
		return s, fl.Invalid("--target", target, "must be without ~%s: the error of the numbers themselves is what a score is about", logWord)
	}
	s.inputs = slices.DeleteFunc(s.inputs, func(c column) bool { return c.name == s.target.name })
	if len(s.inputs) == 0 {
		return s, fl.Invalid("--columns", columns, "must have a column beside the target")
	}
	return s, nil
}

// columns are the inputs, and then the target.
func (s schema) columns() []column { return append(slices.Clone(s.inputs), s.target) }

// width is the number of values of a row.
func (s schema) width() int {
	n := 0
	for _, c := range s.inputs {
		n += c.width()
	}
	return n
}

// features is the number of values of a row that is scaled and expanded.
func (s schema) features() int { return s.width() + s.expand.width() }

// squares is about the mean of the sum of squares of a row that is scaled and expanded, with 1 for the bias. Each input has a mean square of 1, or less, and
// the added features together have as much.
func (s schema) squares() float64 {
	n := len(s.inputs)
	if s.expand.width() > 0 {
		n *= 2
	}
	return float64(n + 1)
}

// spreadOut is how much longer the best model is than with numbers alone, if each input matters as much: a value of a list that is 1 in one row of k has a
// weight √k times as large as a number's.
func (s schema) spreadOut() float64 {
	return math.Sqrt(float64(s.width()) / float64(len(s.inputs)))
}

// names are the names of a row's values.
func (s schema) names() (names []string) {
	for _, c := range s.inputs {
		names = append(names, c.names()...)
	}
	return names
}

// values returns the values of a row: from −1 to 1 for a number. cells and how they fit are in the order of inputs.
func (s schema) values(cells []string) (x []float64, how []fit) {
	x = make([]float64, s.width())
	at := 0
	for i, c := range s.inputs {
		how = append(how, c.encode(x[at:at+c.width()], cells[i]))
		at += c.width()
	}
	return x, how
}

// row returns the values of a row, and its target: from −1 to 1 for a number, the place in the list for a value. cells and how they
// fit are in the order of columns. A target that is ignored stands for nothing: such a row must not train and must not be scored.
func (s schema) row(cells []string) (x []float64, y float64, how []fit) {
	x, how = s.values(cells)
	target := make([]float64, s.target.width())
	how = append(how, s.target.encode(target, cells[len(s.inputs)]))
	if s.target.values != nil {
		return x, float64(max(0, slices.Index(target, 1))), how
	}
	return x, target[0], how
}
