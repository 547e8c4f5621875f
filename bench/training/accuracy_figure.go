package training

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// limits returns the limits of the axis of accuracy: all of it, or the upper tenths that hold all runs
// where the runs would be too close to distinguish.
func limits(cells []*cell) [2]float64 {
	least := 1.
	for _, c := range cells {
		least = min(least, c.accuracy().Low)
		if c.task.zeroShot != nil {
			least = min(least, *c.task.zeroShot)
		}
	}
	return from(least)
}

// from returns the limits for a least accuracy.
func from(least float64) [2]float64 {
	if least < 0.7 {
		return [2]float64{0, 1}
	}
	return [2]float64{min(0.9, math.Floor(10*least)/10), 1}
}

// figure draws accuracy against both kinds of ε. What others report has a panel of its own, with an
// axis that holds all of it.
func (s sweep) figure(cells []*cell, anchors []anchor) *figure.Figure {
	untrusted := fmt.Sprintf("against whom the mechanism does not trust, δ = %g", s.delta) // readers of shuffled reports, either server, or all but the server
	panels := []figure.Panel{
		s.panel(cells, "against everybody, from one of a client's reports", "ε of one report", func(c *cell) *float64 { return c.course.local }),
		s.panel(cells, untrusted, "ε of all rounds", func(c *cell) *float64 { return c.course.central }),
	}
	if len(anchors) > 0 {
		beside := panels[1]
		beside.Title, beside.Series = "the same beside what others report", slices.Clone(beside.Series)
		for _, a := range anchors {
			last := len(beside.Series) - 1
			if last < 0 || beside.Series[last].Name != a.source {
				beside.Series = append(beside.Series, figure.Series{Name: a.source, Style: figure.Stars})
				last++
			}
			beside.Series[last].X, beside.Series[last].Y = append(beside.Series[last].X, a.epsilon), append(beside.Series[last].Y, a.accuracy)
			beside.YRange[0] = min(beside.YRange[0], math.Floor(10*a.accuracy)/10)
		}
		panels = append(panels, beside)
	}
	if len(panels[0].Series) == 0 { // no mechanism has a local ε
		panels = panels[1:]
	}
	return &figure.Figure{Panels: panels, Columns: len(panels), ErrorBars: experiment.ErrorBars}
}

// panel draws accuracy against the ε that at returns, nil for none. What needs no ε is a dashed line.
func (s sweep) panel(cells []*cell, title, axis string, at func(*cell) *float64) figure.Panel {
	p := figure.Panel{Title: title, XLabel: axis, YLabel: "test accuracy", LogX: true, YRange: limits(cells)}
	var names []string
	curves := map[string][]*cell{}
	lo, hi := math.Inf(1), 0.
	for _, c := range cells {
		if x := at(c); x != nil && !math.IsInf(*x, 1) {
			name := s.label(c)
			if curves[name] == nil {
				names = append(names, name)
			}
			curves[name] = append(curves[name], c)
			lo, hi = min(lo, *x), max(hi, *x)
		}
	}
	for _, name := range names {
		slices.SortStableFunc(curves[name], func(a, b *cell) int { return cmp.Compare(*at(a), *at(b)) })
		series := figure.Series{Name: name, Style: figure.LinePoints}
		for _, c := range curves[name] {
			a := c.accuracy()
			series.Add(*at(c), a.Value, a.Low, a.High)
		}
		p.Series = append(p.Series, series)
	}
	if !(lo < hi) {
		return p
	}
	level := func(name string, c *cell, accuracy float64) {
		name = strings.Replace(s.label(c), c.name, name, 1)
		p.Series = append(p.Series, figure.Series{Name: name, X: []float64{lo, hi}, Y: []float64{accuracy, accuracy}, Style: figure.Dashed})
	}
	for i, c := range cells {
		if c.role == reference {
			level("no privacy", c, c.accuracy().Value)
		}
		if first := i == slices.IndexFunc(cells, func(o *cell) bool { return o.task == c.task }); first && c.task.zeroShot != nil {
			level("zero-shot", c, *c.task.zeroShot)
		}
	}
	return p
}
