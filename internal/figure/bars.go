package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// GroupWidth is the part of a category's place that its bars fill: bar i of n is in the
// middle of its n-th part.
const GroupWidth = 0.8

// barOffset returns how far from its category the middle of a series' bar is:
// bar i of n that share the place. It is zero for every other style.
func barOffset(style Style, i, n int) float64 {
	if style != Bars {
		return 0
	}
	return GroupWidth * ((float64(i)+0.5)/float64(n) - 0.5)
}

// barGroup draws one bar per category. gonum's own bars begin at zero, which is
// nowhere on a logarithmic axis, and have a width that does not follow the number
// of categories.
type barGroup struct {
	points        []point
	look          look
	offset, width float64 // in categories
}

func newBarGroup(points []point, own look, i, n int) *barGroup {
	return &barGroup{points: points, look: own, offset: barOffset(Bars, i, n), width: GroupWidth / float64(n)}
}

// Plot implements plot.Plotter.
func (b *barGroup) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	foot := p.Y.Min
	if p.Y.Min <= 0 && p.Y.Max >= 0 {
		foot = 0
	}
	for _, q := range b.points {
		left, right := trX(q.X+b.offset-b.width/2), trX(q.X+b.offset+b.width/2)
		bottom, top := trY(foot), trY(q.Y)
		c.FillPolygon(b.look.color, c.ClipPolygonXY([]vg.Point{
			{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top},
		}))
	}
}

// Thumbnail implements plot.Thumbnailer.
func (b *barGroup) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(b.look.color, []vg.Point{
		{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y},
	})
}

// whiskers draws error bars. gonum's own are given relative to the point, and a
// low end that is tiny beside the point would be rounded to zero.
type whiskers struct {
	points []point
	style  draw.LineStyle
	offset float64
}

func newWhiskers(points []point, own look, offset float64) *whiskers {
	style := draw.LineStyle{Color: own.color, Width: vg.Points(1)}
	if offset != 0 {
		style.Color = plot.New().Y.Color // to be seen on the bar
	}
	return &whiskers{points: points, style: style, offset: offset}
}

// Plot implements plot.Plotter.
func (e *whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	const half = 2.5 // points
	for _, q := range e.points {
		if q.low == q.high {
			continue
		}
		x, low, high := trX(q.X+e.offset), trY(math.Min(q.low, q.high)), trY(math.Max(q.low, q.high))
		c.StrokeLines(e.style, c.ClipLinesXY(
			[]vg.Point{{X: x, Y: low}, {X: x, Y: high}},
			[]vg.Point{{X: x - half, Y: low}, {X: x + half, Y: low}},
			[]vg.Point{{X: x - half, Y: high}, {X: x + half, Y: high}},
		)...)
	}
}
