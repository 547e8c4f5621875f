package paint

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// groupWidth is the part of a category's place that its bars and marks share.
const groupWidth = 0.8

// standsBeside reports whether the series has a place of its own in each category.
func (s series) standsBeside(p panel) bool {
	return len(p.Categories) > 0 && s.X == nil && (s.Style == figure.Bars || s.Style == figure.Points)
}

// beside returns how far from the middle of a category its i-th part of n is.
func beside(i, n int) float64 {
	return groupWidth * ((float64(i)+0.5)/float64(n) - 0.5)
}

// barGroup draws one bar per category, from zero. gonum's own bars have a width that does
// not follow the number of categories.
type barGroup struct {
	points []point
	look   look
	width  float64 // in categories
}

// Plot implements plot.Plotter.
func (b *barGroup) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	foot := min(max(p.Y.Min, 0), p.Y.Max)
	for _, q := range b.points {
		left, right := trX(q.X-b.width/2), trX(q.X+b.width/2)
		bottom, top := trY(foot), trY(q.Y)
		c.FillPolygon(b.look.color, c.ClipPolygonXY([]vg.Point{
			{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top},
		}))
	}
}

const (
	whiskerWidth = vg.Length(1)
	halfWhisker  = vg.Length(2.5)
)

// whiskers draws error bars. gonum's own are given relative to the point, and a
// low end that is tiny beside the point would be rounded to zero.
type whiskers struct {
	points []point
	style  draw.LineStyle
	marked bool // a mark hides what is shorter than the mark
}

func newWhiskers(points []point, own look, style figure.Style) whiskers {
	line := draw.LineStyle{Color: own.color, Width: whiskerWidth}
	if style == figure.Bars {
		line.Color = plot.New().Y.Color // to be seen on the bar
	}
	return whiskers{points: points, style: line, marked: style == figure.Points || style == figure.LinePoints || style == figure.Proved}
}

// Plot implements plot.Plotter. Ends beyond the axis have no cross line.
func (e whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for _, q := range e.points {
		if q.low == q.high {
			continue
		}
		x, ends := trX(q.X), [2]float64{min(q.low, q.high), max(q.low, q.high)}
		if e.marked && trY(ends[1])-trY(ends[0]) < markSize {
			continue
		}
		lines := [][]vg.Point{{{X: x, Y: trY(max(ends[0], p.Y.Min))}, {X: x, Y: trY(min(ends[1], p.Y.Max))}}}
		for _, v := range ends {
			if v >= p.Y.Min && v <= p.Y.Max {
				lines = append(lines, []vg.Point{{X: x - halfWhisker, Y: trY(v)}, {X: x + halfWhisker, Y: trY(v)}})
			}
		}
		c.StrokeLines(e.style, c.ClipLinesXY(lines...)...)
	}
}
