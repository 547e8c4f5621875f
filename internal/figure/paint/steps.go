package paint

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// steps are the ticks of a linear axis: at multiples of 1, 2 or 5 times a power of ten.
type steps struct{ whole bool } // whole: only integers have labels

// stepLengths are the steps below 10, each with the number of its parts, which have ticks.
var stepLengths = []struct {
	length float64
	parts  int
}{{1, 5}, {2, 4}, {5, 5}}

// Ticks implements plot.Ticker: the smallest step at which labels fit.
func (s steps) Ticks(lo, hi float64) []plot.Tick {
	power := int(math.Floor(math.Log10((hi - lo) / manyLabels)))
	if s.whole {
		power = max(power, 0)
	}
	for ; ; power++ {
		for _, step := range stepLengths {
			length := step.length * math.Pow10(power)
			first, last := math.Ceil(lo/length-rounding), math.Floor(hi/length+rounding)
			if last-first < manyLabels {
				return s.at(lo, hi, length, step.parts, power)
			}
		}
	}
}

// at returns labels at multiples of a step and ticks at its parts.
func (s steps) at(lo, hi, length float64, parts, power int) []plot.Tick {
	if part := length / float64(parts); s.whole && part != math.Trunc(part) {
		parts = 1
	}
	var ticks []plot.Tick
	part := length / float64(parts)
	for k := math.Ceil(lo/part - rounding); k <= math.Floor(hi/part+rounding); k++ {
		tick := plot.Tick{Value: min(max(k*part, lo), hi)}
		if math.Mod(k, float64(parts)) == 0 {
			tick.Label = stepLabel(k/float64(parts)*length, power)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// stepLabel writes a multiple of a step of this power of ten, with an exponent where it would be
// long otherwise.
func stepLabel(v float64, power int) string {
	switch size := math.Abs(v); {
	case v == 0:
		return "0"
	case power >= -4 && size < 1e6:
		return strconv.FormatFloat(v, 'f', max(0, -power), 64)
	default:
		digits := max(0, int(math.Floor(math.Log10(size)+rounding))-power)
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		number, _ := strconv.Atoi(exponent) // of FormatFloat
		return mantissa + "e" + strconv.Itoa(number)
	}
}
