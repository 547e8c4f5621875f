package demands

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Series of the pictures.
const (
	measured  = "measured"
	readingOf = "measured, each reading"
)

// lawPanels has a panel for each law: the quantiles of all schemes with the paper's quantiles.
func lawPanels(groups []group) (panels []figure.Panel) {
	for _, g := range groups {
		panel := figure.Panel{Title: g.name, YLabel: "largest error, 95 % quantile", LogY: true}
		own, theirs := figure.Series{Name: measured, Style: figure.Points}, figure.Series{Name: "the paper's", Of: measured, Style: figure.Points}
		bound := figure.Series{Name: "lower bound, worst data", Style: figure.Dashed}
		for s, scheme := range g.list {
			panel.Categories = append(panel.Categories, scheme.name)
			e := experiment.MeanInterval(g.errors[quantile][s])
			own.Add(float64(s), e.Value, e.Low, e.High)
			bound.X, bound.Y = append(bound.X, float64(s)), append(bound.Y, stat.Mean(g.lower, nil))
			theirs.X, theirs.Y = g.printedOf(theirs, quantile, s, float64(s))
		}
		panel.Series = []figure.Series{own, theirs, bound}
		panels = append(panels, panel)
	}
	return panels
}

// printedOf appends what the paper prints for a scheme, if it does, to the points of a series.
func (g group) printedOf(to figure.Series, m measure, scheme int, x float64) (xs, ys []float64) {
	if g.paper == nil || scheme >= len(row{}) {
		return to.X, to.Y
	}
	if value, _, err := g.paper[m].printed(scheme); err == nil {
		return append(to.X, x), append(to.Y, value)
	}
	return to.X, to.Y
}

// histogramPanels are the paper's Figures 1 and 2, and the distribution functions of Appendix B.
func histogramPanels(groups []group) (panels []figure.Panel) {
	var second, curves []figure.Panel
	for _, d := range bySet(groups) {
		if d[0].paper == nil {
			continue
		}
		panels = append(panels, d.bars())
		if d[0].set != salarySet && d[0].set != cancerSet {
			second = append(second, d.surrogates())
		}
		for _, g := range d {
			if g.curve {
				curves = append(curves, g.distribution())
			}
		}
	}
	return slices.Concat(panels, second, curves)
}

// bars is a panel of Figure 1: minus the logarithm of the mean square with correlation, and of the
// quantile without.
func (d dataSet) bars() figure.Panel {
	m := quantile
	if d[0].correlated {
		m = square
	}
	theirs := figure.Series{Name: "the paper's, Figure 1", Style: figure.Bars}
	own := figure.Series{Name: readingOf, Style: figure.Points}
	panel := figure.Panel{Title: "Figure 1: " + d.title(), YLabel: fmt.Sprintf("−ln of the %s", m)}
	for s := range (row{}) {
		panel.Categories = append(panel.Categories, d[0].list[s].name)
		if value, _, err := d[0].paper[m].printed(s); err == nil {
			theirs.Y = append(theirs.Y, -math.Log(value))
		}
		for _, g := range d {
			e := experiment.MeanInterval(g.errors[m][s])
			own.Add(float64(s), -math.Log(e.Value), -math.Log(e.High), -math.Log(max(e.Low, e.Value/10)))
		}
	}
	panel.Series = []figure.Series{theirs, own}
	return panel
}

// surrogates is a panel of Figure 2: the quantiles of the optimal weights, of their surrogate and of A.
func (d dataSet) surrogates() figure.Panel {
	own := figure.Series{Name: readingOf, Style: figure.Points}
	theirs := figure.Series{Name: "the paper's, Table 4", Of: readingOf, Style: figure.Points}
	panel := figure.Panel{Title: "Figure 2: " + d.title(), YLabel: "largest error, 95 % quantile", LogY: true}
	for x, name := range []string{d[0].optimum(), d[0].turbo(), heuristic} {
		panel.Categories = append(panel.Categories, name)
		s := slices.IndexFunc(d[0].list, func(s scheme) bool { return s.name == name })
		for _, g := range d {
			e := experiment.MeanInterval(g.errors[quantile][s])
			own.Add(float64(x), e.Value, e.Low, e.High)
		}
		theirs.X, theirs.Y = d[0].printedOf(theirs, quantile, s, float64(x))
	}
	panel.Series = []figure.Series{own, theirs}
	return panel
}

// distribution is the empirical distribution function of the largest error on the first data set. Every
// fourth point has Wilson's interval.
func (g group) distribution() figure.Panel {
	panel := figure.Panel{Title: "Appendix B: " + g.name, XLabel: "largest error", YLabel: "share of the repeats below", LogX: true}
	for s := range (row{}) {
		name := g.list[s].name
		if name == g.optimum() {
			name = "C or U"
		}
		curve := figure.Series{Name: name, Style: figure.Line}
		for i, x := range g.curves[s] {
			share := experiment.Interval{Value: float64(i+1) / curvePoints}
			share.Low, share.High = share.Value, share.Value
			if i%4 == 3 && i+1 < curvePoints {
				share = experiment.ShareInterval((i+1)*g.repeats/curvePoints, g.repeats)
			}
			curve.Add(x, float64(i+1)/curvePoints, share.Low, share.High)
		}
		panel.Series = append(panel.Series, curve)
	}
	return panel
}
