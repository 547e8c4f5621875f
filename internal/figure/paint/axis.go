package paint

import (
	"math"

	"gonum.org/v1/plot"
)

// maxDrawn bounds what is drawn, so that differences of two values are finite.
const maxDrawn = 1e300

// drawable reports whether a value has a place on an axis.
func drawable(v float64, log bool) bool {
	if log {
		return v >= 1/maxDrawn && v <= maxDrawn
	}
	return math.Abs(v) <= maxDrawn
}

// place returns where a drawable value is on an axis. A logarithmic axis counts powers of
// ten: gonum's own one needs more room for its title than the title takes.
func place(v float64, log bool) float64 {
	if log {
		return math.Log10(v)
	}
	return v
}

// end returns the place of the end of an error bar around a value: infinite where the axis
// never reaches it, the value's own for NaN.
func end(v, around float64, log bool) float64 {
	switch {
	case drawable(v, log):
		return place(v, log)
	case v < around:
		return math.Inf(-1)
	case v > around:
		return math.Inf(1)
	}
	return place(around, log)
}

// span is the range of the places on one axis.
type span struct {
	min, max     float64
	some         bool
	fractions    bool // not all values are integers
	startsAtZero bool // for bars
}

func (s *span) include(v float64) {
	if math.IsInf(v, 0) {
		return
	}
	if !s.some {
		s.min, s.max, s.some = v, v, true
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
	s.fractions = s.fractions || v != math.Trunc(v)
}

// includeEnds widens the span to the ends of error bars. On a logarithmic axis it goes one
// power of ten beyond the values at most: an interval that almost reaches zero is long.
func (s *span) includeEnds(ends span, log bool) {
	if !ends.some {
		return
	}
	if log {
		ends.min, ends.max = max(ends.min, s.min-1), min(ends.max, s.max+1)
	}
	s.include(ends.min)
	s.include(ends.max)
}

// widen leaves room for marks at both ends.
func (s *span) widen(by float64) {
	if !math.IsInf(s.max-s.min, 0) {
		s.min, s.max = s.min-by*(s.max-s.min), s.max+by*(s.max-s.min)
	}
}

// set gives the axis limits that gonum can draw: it cannot draw limits that differ by
// rounding only.
func (s span) set(axis *plot.Axis, log bool) {
	if log {
		axis.Tick.Marker = decades{}
		if !s.some {
			s.min, s.max = 0, 1
		}
		if s.max-s.min < 0.0004 {
			s.min, s.max = s.min-math.Log10(2), s.max+math.Log10(2)
		}
		axis.Min, axis.Max = s.min, s.max
		return
	}
	axis.Tick.Marker = steps{whole: !s.fractions}
	if s.startsAtZero {
		s.min, s.max = min(s.min, 0), max(s.max, 0)
	}
	if size := max(math.Abs(s.min), math.Abs(s.max)); s.max-s.min < 1e-6*size {
		s.min, s.max = s.min-size/10, s.max+size/10
	}
	axis.Min, axis.Max = s.min, s.max
}
