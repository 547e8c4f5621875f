package figure

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

// Figure is a grid of panels with one legend. Series of the same name have the
// same colour and mark in all panels, and one entry in the legend.
type Figure struct {
	Title   string // hushgrad bench fills in the experiment's when it is empty
	Columns int    // panels side by side; 0: as many as make the grid about square
	Panels  []Panel
}

// Panel is one pair of axes. Points that have no place on them are left out: NaN,
// infinite and, on a logarithmic axis, those that are not positive.
type Panel struct {
	Title, XLabel, YLabel string
	LogX, LogY            bool
	YRange                [2]float64 // both zero: from the data
	Categories            []string   // names below x = 0, 1, …, for bars
	Series                []Series
}

// Style is how a series is drawn.
type Style uint8

const (
	Line       Style = iota // points joined by a line
	Points                  // marks only
	LinePoints              // marks joined by a line
	Dashed                  // points joined by a dashed line, for theory and references
	Bars                    // one bar per category, beside those of the other series
)

// Series is a sequence of points.
type Series struct {
	Name        string    // in the legend; empty: not there
	X           []float64 // nil in a panel with categories: 0, 1, …
	Y           []float64
	YLow, YHigh []float64 // ends of the error bars, both or neither, not relative to Y
	Style       Style
}

// maxPanels and maxColumns keep the picture's size in bounds.
const (
	maxPanels  = 64
	maxColumns = 8
)

// Validate returns a *fl.ParamError for the first part of the figure that cannot be
// drawn.
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
			if err := s.validate(fmt.Sprintf("%s.Series[%d]", name, j), len(p.Categories)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Series) validate(name string, categories int) error {
	n := len(s.Y)
	switch {
	case s.Style > Bars:
		return fl.Invalid(name+".Style", s.Style, "must be one of Line, Points, LinePoints, Dashed, Bars")
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
