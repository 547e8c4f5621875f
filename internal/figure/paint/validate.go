package paint

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// maxPanels and maxColumns keep the picture's size in bounds.
const (
	maxPanels  = 64
	maxColumns = 8
)

// Validate returns a *fl.ParamError for the first part of the figure that cannot be
// drawn, or that would look like another one.
func Validate(f *figure.Figure) error {
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
			if err := series(s).validate(fmt.Sprintf("%s.Series[%d]", name, j), p); err != nil {
				return err
			}
		}
	}
	return (*picture)(f).validateLooks()
}

func (s series) validate(name string, p figure.Panel) error {
	n, categories := len(s.Y), len(p.Categories)
	switch {
	case s.Style > figure.Proved:
		return fl.Invalid(name+".Style", s.Style, "must be one of Line, Points, LinePoints, Dashed, Bars, Stars, Proved")
	case s.Style == figure.Bars && p.LogY:
		return fl.Invalid(name+".Style", s.Style, "must not be Bars on a logarithmic axis, where their length means nothing")
	case s.Of != "" && s.Style != figure.Dashed && s.Style != figure.Points && s.Style != figure.Proved:
		return fl.Invalid(name+".Style", s.Style, "must be Dashed, Points or Proved for a reference of %q", s.Of)
	case s.Style == figure.Bars && (n != categories || s.X != nil):
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
