package figure

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Figure is a grid of panels with one legend. Series of the same name have the
// same colour and mark in all panels, and one entry in the legend.
type Figure struct {
	Title     string // go run ./bench fills in the experiment's when it is empty
	Columns   int    // panels side by side; 0: as many as make the grid about square
	ErrorBars string // what the error bars show, in the legend; empty: not there
	Panels    []Panel
	// Narrow puts flat panels below each other and the legend below them, for a page that is read on a phone, too.
	Narrow bool
}

// Panel is one pair of axes. Points that have no place on them are left out: NaN,
// infinite and, on a logarithmic axis, those that are not positive. Titles that are too
// long for a line are broken into several.
type Panel struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	YRange                [2]float64 // both zero: from the data
	Categories            []string   // names below x = 0, 1, …
	Series                []Series
}

// Style is how a series is drawn.
type Style uint8

const (
	Line       Style = iota // points joined by a line
	Points                  // marks only
	LinePoints              // hollow marks joined by a line, for what is measured
	Dashed                  // points joined by a dashed line, for theory and references
	Bars                    // one bar per category; not on a logarithmic axis, which has no zero for them to begin at
	Stars                   // stars only, for what others report
	Proved                  // filled marks joined by a line, for what is proved or exact
)

// Series is a sequence of points.
type Series struct {
	Name string // in the legend; empty: not there
	// Of names another series of the figure that this one is a reference for: its theory, or
	// a paper's number. It has that one's colour, and is Dashed, Proved or Points, which are crosses.
	Of string
	// X are the places of Y. In a panel with categories it may be nil, for 0, 1, …: marks
	// and bars then stand beside the other series' marks and bars.
	X           []float64
	Y           []float64
	YLow, YHigh []float64 // ends of the error bars, both or neither, not relative to Y
	Style       Style
}

// Add appends a point with its error bar. Series without error bars are made of X and Y.
func (s *Series) Add(x, y, low, high float64) {
	s.X = append(s.X, x)
	s.AddNext(y, low, high)
}

// AddNext appends a point for the next category.
func (s *Series) AddNext(y, low, high float64) {
	s.Y, s.YLow, s.YHigh = append(s.Y, y), append(s.YLow, low), append(s.YHigh, high)
}

// maxPanels and maxColumns keep the picture's size in bounds.
const (
	maxPanels  = 64
	maxColumns = 8
)

// Validate returns a *fl.ParamError for the first part of the figure that cannot be
// drawn, or that would look like another one.
func (f *Figure) Validate() error {
	if len(f.Panels) == 0 || len(f.Panels) > maxPanels {
		return fl.Invalid("Plot.Panels", len(f.Panels), "must have 1 to %d", maxPanels)
	}
	if f.Columns < 0 || f.Columns > maxColumns {
		return fl.Invalid("Plot.Columns", f.Columns, "must be in [0, %d]", maxColumns)
	}
	for i, p := range f.Panels {
		name := fmt.Sprintf("Plot.Panels[%d]", i)
		if lo, hi := p.YRange[0], p.YRange[1]; (lo != 0 || hi != 0) && !(lo < hi && drawable(lo, p.LogY) && drawable(hi, p.LogY)) {
			return fl.Invalid(name+".YRange", p.YRange, "must be finite and increasing, and positive on a logarithmic axis")
		}
		if p.Categories != nil && p.LogX {
			return fl.Invalid(name+".LogX", p.LogX, "must be false where there are categories")
		}
		for j, s := range p.Series {
			if err := s.validate(fmt.Sprintf("%s.Series[%d]", name, j), p); err != nil {
				return err
			}
		}
	}
	return f.validateLooks()
}

func (s Series) validate(name string, p Panel) error {
	n, categories := len(s.Y), len(p.Categories)
	switch {
	case s.Style > Proved:
		return fl.Invalid(name+".Style", s.Style, "must be one of Line, Points, LinePoints, Dashed, Bars, Stars, Proved")
	case s.Style == Bars && p.LogY:
		return fl.Invalid(name+".Style", s.Style, "must not be Bars on a logarithmic axis, where their length means nothing")
	case s.Of != "" && s.Style != Dashed && s.Style != Points && s.Style != Proved:
		return fl.Invalid(name+".Style", s.Style, "must be Dashed, Points or Proved for a reference of %q", s.Of)
	case s.Style == Bars && (n != categories || s.X != nil):
		return fl.Invalid(name+".Y", fmt.Sprintf("%d values", n), "bars must have one per category, %d, and no X", categories)
	case s.X == nil && n > categories:
		return fl.Invalid(name+".X", "nothing", "must have %d values", n)
	case s.X != nil && len(s.X) != n:
		return fl.Invalid(name+".X", fmt.Sprintf("%d values", len(s.X)), "must have as many as Y, %d", n)
	case s.YLow == nil && s.YHigh == nil:
		return nil
	case len(s.YLow) != n || len(s.YHigh) != n:
		return fl.Invalid(name+".YLow and YHigh", fmt.Sprintf("%d and %d values", len(s.YLow), len(s.YHigh)), "must have as many as Y, %d, or both be nil", n)
	}
	return nil
}
