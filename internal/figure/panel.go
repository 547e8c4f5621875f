package figure

import (
	"math"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	lineWidth = vg.Points(1.5)
	markSize  = vg.Points(3)
	dashes    = []vg.Length{vg.Points(5), vg.Points(3)}
)

// maxUprightLabel is the number of characters that fit side by side below a panel.
const maxUprightLabel = 48

// plot makes the panel's axes and adds its series.
func (p Panel) plot(looks map[string]look) (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text, drawn.X.Label.Text, drawn.Y.Label.Text = p.Title, p.XLabel, p.YLabel
	drawn.Title.Padding = vg.Points(4)
	drawn.Add(plotter.NewGrid())

	bars, barsInAll := 0, 0
	for _, s := range p.Series {
		if s.Style == Bars {
			barsInAll++
		}
	}
	var x, y span
	for _, s := range p.Series {
		points := s.points(p.LogX, p.LogY)
		for _, q := range points {
			x.include(q.X)
			y.include(q.Y)
			y.include(q.low)
			y.include(q.high)
		}
		own := looks[s.Name]
		if s.Style == Bars {
			y.startsAtZero = true
			drawn.Add(newBarGroup(points, own, bars, barsInAll))
			bars++
		} else if err := s.addTo(drawn, points, own); err != nil {
			return nil, err
		}
		if s.YLow != nil {
			drawn.Add(newWhiskers(points, own, barOffset(s.Style, bars-1, barsInAll)))
		}
	}
	p.setAxes(drawn, x, y)
	return drawn, nil
}

func (p Panel) setAxes(drawn *plot.Plot, x, y span) {
	x.set(&drawn.X, p.LogX)
	y.set(&drawn.Y, p.LogY)
	if p.YRange[0] < p.YRange[1] {
		drawn.Y.Min, drawn.Y.Max = p.YRange[0], p.YRange[1]
	}
	if len(p.Categories) == 0 {
		return
	}
	drawn.NominalX(p.Categories...)
	drawn.X.Min, drawn.X.Max = -0.5, float64(len(p.Categories))-0.5
	length := 0
	for _, name := range p.Categories {
		length += utf8.RuneCountInString(name) + 2
	}
	if length > maxUprightLabel {
		drawn.X.Tick.Label.Rotation = math.Pi / 6
		drawn.X.Tick.Label.XAlign, drawn.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// point is one that has a place on the axes; low and high are at Y where there is
// no error bar.
type point struct {
	X, Y      float64
	low, high float64
}

// points returns the points of s that can be drawn.
func (s Series) points(logX, logY bool) []point {
	var points []point
	for i, y := range s.Y {
		q := point{X: float64(i), Y: y, low: y, high: y}
		if s.X != nil {
			q.X = s.X[i]
		}
		if !drawable(q.X, logX) || !drawable(q.Y, logY) {
			continue
		}
		if s.YLow != nil && drawable(s.YLow[i], logY) {
			q.low = s.YLow[i]
		}
		if s.YHigh != nil && drawable(s.YHigh[i], logY) {
			q.high = s.YHigh[i]
		}
		points = append(points, q)
	}
	return points
}

// addTo adds the series as lines and marks.
func (s Series) addTo(drawn *plot.Plot, points []point, own look) error {
	xys := make(plotter.XYs, len(points))
	for i, q := range points {
		xys[i].X, xys[i].Y = q.X, q.Y
	}
	line, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.LineStyle, marks.GlyphStyle = s.lineStyle(own), glyphStyle(own)
	if s.Style != Points {
		drawn.Add(line)
	}
	if s.Style == Points || s.Style == LinePoints {
		drawn.Add(marks)
	}
	return nil
}

func (s Series) lineStyle(own look) draw.LineStyle {
	style := draw.LineStyle{Color: own.color, Width: lineWidth}
	if s.Style == Dashed {
		style.Dashes = dashes
	}
	return style
}

func glyphStyle(own look) draw.GlyphStyle {
	return draw.GlyphStyle{Color: own.color, Radius: markSize, Shape: own.mark}
}

// thumbnails returns what stands for the series in the legend.
func (s Series) thumbnails(own look) []plot.Thumbnailer {
	line := &plotter.Line{LineStyle: s.lineStyle(own)}
	marks := &plotter.Scatter{GlyphStyle: glyphStyle(own)}
	switch s.Style {
	case Points:
		return []plot.Thumbnailer{marks}
	case LinePoints:
		return []plot.Thumbnailer{line, marks}
	case Bars:
		return []plot.Thumbnailer{newBarGroup(nil, own, 0, 1)}
	}
	return []plot.Thumbnailer{line}
}
