package paint

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// decades are the ticks of a logarithmic axis, whose places are powers of ten.
type decades struct{}

// labelled are the digits that a power of ten may have labels at, the finest last.
var labelled = [][]int{{1}, {1, 3}, {1, 2, 5}, {1, 2, 3, 5, 7}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}

const (
	// manyLabels is how many fit beside each other, fewLabels how few say too little.
	manyLabels, fewLabels = 7, 3
	// rounding is what a place may be off by.
	rounding = 1e-9
)

// Ticks implements plot.Ticker: as many labels as fit, at round values.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	from, to := int(math.Floor(lo)), int(math.Ceil(hi))
	stride := (to-from)/manyLabels + 1
	best := decadeTicks(lo, hi, stride, labelled[0])
	for _, digits := range labelled[1:] {
		if finer := decadeTicks(lo, hi, stride, digits); stride == 1 && countLabels(finer) <= manyLabels {
			best = finer
		}
	}
	if countLabels(best) < fewLabels {
		return partOfADecade(lo, hi)
	}
	if stride == 1 {
		labelEnd(best, hi, max(0.29, (hi-lo)/manyLabels)) // a factor of 2 is .3 decades
	}
	return best
}

// labelEnd labels the last tick where the axis ends at it, so that the last value can be read, and where all labels are apart from it.
func labelEnd(ticks []plot.Tick, hi, apart float64) {
	last := &ticks[len(ticks)-1]
	if last.Label != "" || hi-last.Value > rounding || countLabels(ticks) >= manyLabels {
		return
	}
	for _, tick := range ticks {
		if tick.Label != "" && last.Value-tick.Value < apart {
			return
		}
	}
	power := int(math.Floor(last.Value + rounding))
	last.Label = tickLabel(int(math.Round(math.Pow(10, last.Value-float64(power)))), power, hi > 6+rounding)
}

// decadeTicks returns ticks at all digits, or at every stride-th power, with labels at some
// digits.
func decadeTicks(lo, hi float64, stride int, digits []int) []plot.Tick {
	from, to := int(math.Floor(lo)), int(math.Ceil(hi))
	// Labels like 0.001 are short and clear for few powers only.
	exponents := lo < -4-rounding || hi > 6+rounding
	var ticks []plot.Tick
	for power := from; power <= to; power++ {
		for digit := 1; digit < 10; digit++ {
			v := math.Log10(float64(digit)) + float64(power)
			if v < lo-rounding || v > hi+rounding || stride > 1 && digit > 1 {
				continue
			}
			tick := plot.Tick{Value: min(max(v, lo), hi)}
			if power%stride == 0 {
				for _, d := range digits {
					if d == digit {
						tick.Label = tickLabel(digit, power, exponents)
					}
				}
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// partOfADecade returns ticks at even distances, for an axis that holds hardly any round
// values.
func partOfADecade(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for _, tick := range (plot.DefaultTicks{}).Ticks(math.Pow(10, lo), math.Pow(10, hi)) {
		if tick.Value = math.Log10(tick.Value); tick.Value >= lo && tick.Value <= hi {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

func countLabels(ticks []plot.Tick) (n int) {
	for _, tick := range ticks {
		if tick.Label != "" {
			n++
		}
	}
	return n
}

// tickLabel writes digit·10^power, with an exponent or as a decimal number. The font has
// no raised digits.
func tickLabel(digit, power int, exponent bool) string {
	text := strconv.Itoa(digit)
	switch {
	case exponent && (power < 0 || power > 1):
		return text + "e" + strconv.Itoa(power)
	case power < 0:
		return "0." + strings.Repeat("0", -power-1) + text
	}
	return text + strings.Repeat("0", power)
}
