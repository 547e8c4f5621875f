package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// maxDrawn bounds what is drawn, so that differences of two values are finite.
const maxDrawn = 1e300

// drawable tells whether a value has a place on an axis.
func drawable(v float64, log bool) bool {
	if log {
		return v >= 1/maxDrawn && v <= maxDrawn
	}
	return math.Abs(v) <= maxDrawn
}

// span is the range of the values on one axis.
type span struct {
	min, max     float64
	some         bool
	startsAtZero bool // for bars on a linear axis
}

func (s *span) include(v float64) {
	if !s.some {
		s.min, s.max, s.some = v, v, true
	}
	s.min, s.max = min(s.min, v), max(s.max, v)
}

// set gives the axis limits that gonum can draw: it panics at logarithmic axes
// that reach zero and at limits that differ by rounding only.
func (s span) set(axis *plot.Axis, log bool) {
	if log {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, logTicks{}
		if !s.some {
			s.min, s.max = 1, 10
		}
		if s.startsAtZero {
			s.min /= 2 // so that the smallest bar can be seen
		}
		if s.max/s.min < 1.001 {
			s.min, s.max = s.min/2, s.max*2
		}
		axis.Min, axis.Max = s.min, s.max
		return
	}
	if s.startsAtZero {
		s.min, s.max = min(s.min, 0), max(s.max, 0)
	}
	if size := max(math.Abs(s.min), math.Abs(s.max)); s.max-s.min < 1e-6*size {
		s.min, s.max = s.min-size/10, s.max+size/10
	}
	axis.Min, axis.Max = s.min, s.max
}

// logTicks labels powers of ten and, where there are few, their multiples by 2
// and 5. plot.LogTicks labels powers only, and misses those below one.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	from, to := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	const many = 6 // labels of powers beside each other
	stride := (to-from)/(many+1) + 1
	var ticks []plot.Tick
	labels := 0
	for power := from; power <= to; power++ {
		for digit := 1; digit < 10; digit++ {
			// Not a product, which would be rounded, and labelled 0.00030000000000000003.
			value, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", digit, power), 64)
			if value < lo || value > hi || stride > 1 && digit > 1 {
				continue
			}
			tick := plot.Tick{Value: value}
			if digit == 1 && power%stride == 0 || to-from <= 2 && (digit == 2 || digit == 5) {
				tick.Label = strconv.FormatFloat(value, 'g', -1, 64)
				labels++
			}
			ticks = append(ticks, tick)
		}
	}
	if labels < 2 {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	return ticks
}
