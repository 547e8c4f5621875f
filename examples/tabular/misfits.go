package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// misfits counts the cells that do not fit what is public about their columns. A simulation holds all
// rows and can count. A server of real clients cannot: no client reveals whether its row fits.
type misfits struct {
	columns []column
	target  int    // its place in columns; −1: there is none
	place   string // what the number of a row means: "line" of a file, "row" of a generated table
	rows    int
	counts  [][ignored + 1]tally  // by column and fit
	spelled []map[string]spelling // by column and value of its list
}

// enough is how many cells that do not fit answer how values are spelled: the rows up to the last of them are compared.
const enough = 1000

// spelling is about cells that differ from a value in upper and lower case alone.
type spelling struct {
	cell        string // the first of them
	other, same int    // cells that do, and that do not
}

// tally counts cells. It keeps the first of them, and the next one that differs.
type tally struct {
	n           int
	place       int
	cell, other string
}

func newMisfits(columns []column, target int, place string) *misfits {
	m := &misfits{columns: columns, target: target, place: place}
	m.counts = make([][ignored + 1]tally, len(m.columns))
	for range m.columns {
		m.spelled = append(m.spelled, map[string]spelling{})
	}
	return m
}

// add counts the cells of a row, which are in the order of the schema's columns. Cells are copied.
func (m *misfits) add(place int, cells []string, how []fit) {
	m.rows++
	for i, c := range m.columns {
		if how[i] == fits {
			if c.values != nil && m.counts[i][ignored].n <= enough {
				value := strings.TrimSpace(cells[i])
				s := m.spelled[i][value]
				s.same++
				m.spelled[i][strings.Clone(value)] = s
			}
			continue
		}
		t := &m.counts[i][how[i]]
		if t.n++; t.n == 1 {
			t.place, t.cell = place, strings.Clone(cells[i])
		} else if t.other == "" && cells[i] != t.cell {
			t.other = strings.Clone(cells[i])
		}
		if t.n > enough {
			continue
		}
		cell := strings.TrimSpace(cells[i])
		for _, v := range c.values {
			if s := m.spelled[i][v]; strings.EqualFold(v, cell) {
				if s.other++; s.other == 1 {
					s.cell = strings.Clone(cell)
				}
				m.spelled[i][v] = s
			}
		}
	}
}

// of is the number of cells of column i that do not fit.
func (m *misfits) of(i int) int { return m.counts[i][clipped].n + m.counts[i][ignored].n }

// A column that does not fit in more percent of the rows is refused.
const (
	maxTargetPercent = 1  // a score says nothing about the rows that it leaves out
	maxInputPercent  = 50 // an input is often missing
)

// check refuses a description that too many rows do not fit.
func (m *misfits) check() error {
	for i, c := range m.columns {
		flag, percent := "--columns", maxInputPercent
		if i == m.target {
			flag, percent = "--target", maxTargetPercent
		}
		if 100*m.of(i) <= percent*m.rows {
			continue
		}
		var wrong []string
		for _, one := range m.about(i) {
			wrong = append(wrong, one.wrong)
		}
		return fl.Invalid(flag, shortened(c.String()), "must fit at least %d %% of the rows: %s; mend the description or the rows%s",
			100-percent, strings.Join(wrong, "; "), cmp.Or(m.meant(i), m.found(i)))
	}
	return nil
}

// sentences say which cells do not fit, and what becomes of them.
func (m *misfits) sentences() (out []string) {
	for i := range m.columns {
		for _, one := range m.about(i) {
			out = append(out, fmt.Sprintf("%s; %s%s", one.wrong, one.then, m.meant(i)))
		}
	}
	return out
}

// sentence says which cells do not fit, and what becomes of them.
type sentence struct{ wrong, then string }

// about says how the cells of column i do not fit.
func (m *misfits) about(i int) (out []sentence) {
	c := m.columns[i]
	say := func(how fit, rule, then string) {
		if t := m.counts[i][how]; t.n > 0 {
			wrong := fmt.Sprintf("%d of %d rows: %s is not %s (first: %s %d, %q)", t.n, m.rows, c.name, rule, m.place, t.place, shortened(t.cell))
			out = append(out, sentence{wrong, then})
		}
	}
	const neither = "such a row neither trains nor is scored"
	between := fmt.Sprintf("from %s to %s", text(c.low), text(c.high))
	switch {
	case i == m.target && c.values != nil:
		say(ignored, oneOf(c.values), neither)
	case i == m.target:
		say(clipped, between, "the nearest end stands for it in training, and such a row is not scored")
		say(ignored, "a number", neither)
	case c.values != nil:
		say(ignored, oneOf(c.values), "zeros stand for it")
	case !c.isNumber():
		say(ignored, "a value", "zeros stand for it")
	default:
		say(clipped, between, "the nearest end stands for it")
		say(ignored, "a number", "the centre of its column stands for it")
	}
	return out
}

// found says what stands in a column of which no declared value does.
func (m *misfits) found(i int) string {
	t := m.counts[i][ignored]
	if m.columns[i].values == nil || t.n < m.rows || t.other == "" {
		return ""
	}
	return fmt.Sprintf(" (its first values are %q and %q)", shortened(t.cell), shortened(t.other))
}

// pointed is a number with a comma for its decimal point.
var pointed = regexp.MustCompile(`^\s*(-?[0-9]+),([0-9]+)\s*$`)

// meant asks for the cells' spelling where upper and lower case alone differ, and more rows would fit it. Where fewer would, it
// says how many cells are to be mended, and gives one of them.
func (m *misfits) meant(i int) string {
	c, mend, cells := m.columns[i], "", 0
	if cell := m.counts[i][ignored].cell; c.isNumber() && pointed.MatchString(cell) {
		return fmt.Sprintf(" (write %q as %q in the rows, with a decimal point)", shortened(cell), shortened(pointed.ReplaceAllString(cell, "$1.$2")))
	}
	values := slices.Clone(c.values)
	for k, v := range c.values {
		switch s := m.spelled[i][v]; {
		case s.other > s.same && c.file != "": // its values
			return command.Meant([]string{fmt.Sprintf("%q", shortened(v))})
		case s.other > s.same:
			values[k] = s.cell
		case s.other > 0:
			cells += s.other
			mend = cmp.Or(mend, fmt.Sprintf("%q as %q", shortened(s.cell), shortened(v)))
		}
	}
	switch {
	case !slices.Equal(values, c.values):
	case cells == 0:
		return ""
	case cells == m.counts[i][ignored].n:
		return fmt.Sprintf(" (write %s in the rows)", mend)
	default:
		return fmt.Sprintf(" (write %s in the rows: in %d of the first %d such cells only upper and lower case differ)", mend, cells, min(m.counts[i][ignored].n, enough))
	}
	c.values = values
	return command.Meant([]string{fmt.Sprintf("%q", shortened(c.String()))})
}

// oneOf lists values for people.
func oneOf(values []string) string {
	const shown = 8
	if last := len(values) - 1; last < shown {
		return strings.Join(values[:last], ", ") + " or " + values[last]
	}
	return fmt.Sprintf("%s or one of %d more values", strings.Join(values[:shown], ", "), len(values)-shown)
}

// shortened cuts a text of a file or a flag to what a message can show.
func shortened(text string) string {
	const most = 200 // bytes
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) { // what is not UTF-8 may have no start
		cut--
	}
	return text[:cut] + "…"
}
