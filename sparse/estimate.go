package sparse

import (
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/parallel"
)

// Estimate implements count.State. O(dim) for each column, after the counts.
func (t *tally) Estimate(reports int64) (*fl.Estimate, error) {
	m := t.mechanism
	h := hits{calibration: m.calibration, n: float64(reports)}
	h.plus, h.minus = t.hits.Counts()
	mean := h.series(mean)
	e := fl.NewEstimate(m.round.Round, m.Guarantee(), reports, mean)
	for _, name := range m.round.Columns {
		c, err := h.column(name, mean, m.round.Scale)
		if err != nil {
			return nil, err
		}
		e.Columns = append(e.Columns, fl.Column{Name: name, Series: c})
	}
	e.Suspects = m.suspects(h)
	e.NoiseNorm = m.round.Scale * h.noiseNorm(mean, m.aliasing)
	widen(mean, m.aliasing)
	for j := range mean.Value { // now from ternary units to the gradient's units
		mean.Value[j] *= m.round.Scale
		mean.StdErr[j] *= m.round.Scale
	}
	return e, nil
}

// hits are the counts of all coordinates in n reports.
type hits struct {
	calibration Calibration
	plus, minus []int32
	n           float64
}

// column estimates what the round asks for beside the mean, which is in ternary units.
func (h hits) column(name string, mean fl.Series, scale float64) (fl.Series, error) {
	switch name {
	case fl.ColumnFrequency:
		return h.series(frequency), nil
	case fl.ColumnPlus:
		return h.series(item), nil
	case fl.ColumnMinus:
		return hits{calibration: h.calibration, plus: h.minus, minus: h.plus, n: h.n}.series(item), nil
	case fl.ColumnConditional:
		return h.conditional(mean, h.series(frequency), scale), nil
	}
	return fl.Series{}, fl.Invalid("columns", name, "is not a column of sparse mechanisms")
}

// conditional divides the mean by the frequency, which is moved into the range that n
// clients can have.
func (h hits) conditional(mean, frequency fl.Series, scale float64) fl.Series {
	out := fl.Series{Value: slices.Clone(mean.Value)}
	least := 1 / h.n
	for j, v := range mean.Value {
		holders := min(max(frequency.Value[j], least), 1)
		out.Value[j] = scale * min(max(v/holders, -1), 1)
	}
	return out
}

// moreHits are counted when a variance is taken from hits, beyond those that were seen. A
// number X of hits with mean λ has variance λ, which X stands for, so that few hits look more
// certain than they are: of the intervals X ± 1.96·√X only 86 % or less cover λ where it is
// small. Of X ± 1.96·√(X+3) at least 94 % cover it, at every λ.
const moreHits = 3

// mean estimates an entry of the mean ternary vector. The variance is the variance of one
// report's estimate Y over the sampling of coordinates and the randomizer, E[Y²] − E[Y]², from
// the estimated frequency and from moreHits. Where hits do not show the frequency, E[Y²] is
// the same at any frequency.
func mean(c Calibration) estimator {
	in, out := c.MeanVariance()
	g, shown := c.gains(), c.estimatesFrequency()
	return func(k counts) (value, variance float64) {
		value = g.meanOf(k)
		f := 1.0
		if shown {
			f = max(g.frequencyOf(k), 0)
		}
		expected := min(math.Abs(value), f, 1)
		return value, f*(in+1) + (1-f)*out + moreHits*g.mean*g.mean/k.n - expected*expected
	}
}

// noiseNorm returns the norm of the mean's error, in ternary units. perSquare is as in widen.
// E[Y²] is linear in the frequency, so a sum over the coordinates needs neither moreHits nor a
// frequency that is moved up to 0. A mean of n reports has E[Y²] − E[Y]² over n, for which n−1
// is unbiased. A single report shows E[Y²] alone, which is at least as large.
func (h hits) noiseNorm(mean fl.Series, perSquare float64) float64 {
	in, out := h.calibration.MeanVariance()
	g, shown := h.calibration.gains(), h.calibration.estimatesFrequency()
	seconds, squares := 0.0, 0.0
	for j, v := range mean.Value {
		f := 1.0
		if shown {
			f = g.frequencyOf(h.counts(j))
		}
		seconds += f*(in+1) + (1-f)*out
		squares += v * v
	}
	error2 := seconds
	if h.n > 1 {
		error2 = (seconds - squares) / (h.n - 1)
	}
	error2 = max(error2, 0)
	labels := perSquare * float64(len(mean.Value)) * max(squares-error2, 0)
	return math.Sqrt(error2 + labels)
}

// widen adds to the standard errors of the mean, in ternary units, the error of a round's
// fixed labels. perSquare is what a client's vector adds to the squared error of every
// coordinate, divided by the squares of the mean, see Definition.Aliasing.
func widen(mean fl.Series, perSquare float64) {
	squares := 0.0
	for j, v := range mean.Value {
		squares += v*v - mean.StdErr[j]*mean.StdErr[j]
	}
	if perSquare == 0 || !(squares > 0) {
		return
	}
	for j, v := range mean.StdErr {
		mean.StdErr[j] = math.Sqrt(v*v + perSquare*squares)
	}
}

// frequency estimates the share of clients whose entry is not zero. The variance is of one
// report's estimate, as for mean.
func frequency(c Calibration) estimator {
	in, out := c.FrequencyVariance()
	g := c.gains()
	return func(k counts) (value, variance float64) {
		value = g.frequencyOf(k)
		f := max(value, 0)
		expected := min(f, 1)
		return value, f*(in+1) + (1-f)*out + moreHits*g.frequency*g.frequency/k.n - expected*expected
	}
}

// item estimates the share of clients with the item +. The variance is of one report's estimate,
// as for mean.
func item(c Calibration) estimator {
	own, opposite, out := c.ItemVariance()
	g := c.gains()
	gain, _ := c.itemGains()
	return func(k counts) (value, variance float64) {
		value = (g.frequencyOf(k) + g.meanOf(k)) / 2
		all := max(g.frequencyOf(k), 0)
		f := min(max(value, 0), all)
		expected := min(f, 1)
		return value, f*(own+1) + (all-f)*opposite + (1-all)*out + moreHits*gain*gain/k.n - expected*expected
	}
}

// estimator estimates from the counts of a coordinate. The variance is a single report's variance.
type estimator func(k counts) (value, variance float64)

// series applies an estimator to every coordinate.
func (h hits) series(of func(Calibration) estimator) fl.Series {
	s := fl.Series{Value: make([]float64, len(h.plus)), StdErr: make([]float64, len(h.plus))}
	estimate := of(h.calibration)
	parallel.Ranges(len(h.plus), func(from, to int) {
		for j := from; j < to; j++ {
			value, variance := estimate(h.counts(j))
			s.Value[j], s.StdErr[j] = value, math.Sqrt(variance/h.n)
		}
	})
	return s
}

// counts returns the counts of coordinate j.
func (h hits) counts(j int) counts {
	return counts{plus: float64(h.plus[j]), minus: float64(h.minus[j]), n: h.n}
}
