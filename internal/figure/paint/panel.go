package paint

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hushgrad/hushgrad/internal/figure"
)

var (
	lineWidth = vg.Points(1.5)
	markSize  = vg.Points(3)
)

// panel and series are what is drawn.
type (
	panel  figure.Panel
	series figure.Series
)

// plot makes the panel's axes and adds its series.
func (p panel) plot(looks map[string]look, height vg.Length) (*plot.Plot, error) {
	drawn := p.axes(height)
	drawn.Add(plotter.NewGrid())
	shares := 0
	for _, s := range p.Series {
		if series(s).standsBeside(p) {
			shares++
		}
	}
	share := 0
	var x, y, ends span
	for _, s := range p.Series {
		points, own := series(s).points(p.LogX, p.LogY), looks[s.Name]
		if series(s).standsBeside(p) {
			for i := range points {
				points[i].X += beside(share, shares)
			}
			share++
		}
		for _, q := range points {
			x.include(q.X)
			y.include(q.Y)
			ends.include(q.low)
			ends.include(q.high)
		}
		if s.Style == figure.Bars {
			y.startsAtZero = true
			drawn.Add(&barGroup{points: points, look: own, width: groupWidth / float64(shares)})
		} else if err := series(s).addTo(drawn, points, own); err != nil {
			return nil, err
		}
		if s.YLow != nil {
			drawn.Add(newWhiskers(points, own, s.Style))
		}
	}
	y.includeEnds(ends, p.LogY)
	if len(p.Categories) > 0 && !y.startsAtZero {
		y.widen(0.04)
	}
	p.setAxes(drawn, x, y)
	return drawn, nil
}

// axes makes empty axes with their titles.
func (p panel) axes(height vg.Length) *plot.Plot {
	drawn := plot.New()
	drawn.Title.Text = broken(drawn.Title.TextStyle, p.Title, panelWidth)
	drawn.X.Label.Text = broken(drawn.X.Label.TextStyle, p.XLabel, axisTitle*panelWidth)
	drawn.Y.Label.Text = broken(drawn.Y.Label.TextStyle, p.YLabel, axisTitle*height)
	drawn.Title.Padding = vg.Points(4)
	return drawn
}

func (p panel) setAxes(drawn *plot.Plot, x, y span) {
	x.set(&drawn.X, p.LogX)
	y.set(&drawn.Y, p.LogY)
	if p.YRange[0] < p.YRange[1] {
		drawn.Y.Min, drawn.Y.Max = place(p.YRange[0], p.LogY), place(p.YRange[1], p.LogY)
	}
	if len(p.Categories) > 0 {
		p.nameCategories(drawn)
	}
}

const (
	// axisWidth is the part of a panel that its horizontal axis fills, about.
	axisWidth = 0.85
	// turned is by how much names are turned that do not fit.
	turned = math.Pi / 6
)

// nameCategories writes the names below the axis: in several lines where that is enough,
// and turned where a word is wider than its category.
func (p panel) nameCategories(drawn *plot.Plot) {
	n := len(p.Categories)
	style, width := drawn.X.Tick.Label, axisWidth*panelWidth/vg.Length(n)
	lines, fit, tall := make([]string, n), true, 0
	overhang := vg.Length(0) // of turned names, to the left of the axis
	for i, name := range p.Categories {
		lines[i] = broken(style, name, width)
		tall = max(tall, strings.Count(lines[i], "\n"))
		fit = fit && style.Width(lines[i]) <= width
		overhang = max(overhang, style.Width(name)*vg.Length(math.Cos(turned))-(vg.Length(i)+0.5)*width)
	}
	padding := drawn.Y.Padding
	if fit {
		for i, name := range lines { // all as tall as the tallest, or they begin at different heights
			lines[i] += strings.Repeat("\n ", tall-strings.Count(name, "\n"))
		}
		drawn.NominalX(lines...)
	} else {
		drawn.NominalX(p.Categories...)
		label := &drawn.X.Tick.Label
		label.Rotation, label.XAlign, label.YAlign = turned, draw.XRight, draw.YCenter
		padding += overhang
	}
	drawn.Y.Padding = padding // which NominalX makes as wide as half of a category's name
	drawn.X.Min, drawn.X.Max = -0.5, float64(n)-0.5
}

// point is one that has a place on the axes, in their units. low and high are at Y where
// there is no error bar, and infinite where an error bar leaves the axis.
type point struct {
	X, Y      float64
	low, high float64
}

// points returns the points of s that can be drawn.
func (s series) points(logX, logY bool) []point {
	var points []point
	for i, y := range s.Y {
		x := float64(i)
		if s.X != nil {
			x = s.X[i]
		}
		if !drawable(x, logX) || !drawable(y, logY) {
			continue
		}
		q := point{X: place(x, logX), Y: place(y, logY)}
		q.low, q.high = q.Y, q.Y
		if s.YLow != nil {
			q.low, q.high = end(s.YLow[i], y, logY), end(s.YHigh[i], y, logY)
		}
		points = append(points, q)
	}
	return points
}

// addTo adds the series as lines and marks.
func (s series) addTo(drawn *plot.Plot, points []point, own look) error {
	xys := make(plotter.XYs, len(points))
	for i, q := range points {
		xys[i].X, xys[i].Y = q.X, q.Y
	}
	line, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.LineStyle, marks.GlyphStyle = s.lineStyle(own), s.glyphStyle(own)
	if s.Style != figure.Points && s.Style != figure.Stars {
		drawn.Add(line)
	}
	if s.Style == figure.Points || s.Style == figure.LinePoints || s.Style == figure.Stars || s.Style == figure.Proved {
		drawn.Add(marks)
	}
	return nil
}

func (s series) lineStyle(own look) draw.LineStyle {
	return draw.LineStyle{Color: own.color, Width: lineWidth, Dashes: own.dashes(s.Style)}
}

func (s series) glyphStyle(own look) draw.GlyphStyle {
	switch s.Style {
	case figure.Stars:
		own.mark = starGlyph{}
	case figure.Proved:
		own.mark = own.full
	}
	return draw.GlyphStyle{Color: own.color, Radius: markSize, Shape: own.mark}
}
