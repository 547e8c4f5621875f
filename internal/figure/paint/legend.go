package paint

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// legend has one entry per name, drawn as where the name comes first, and one for the
// error bars.
func (f *picture) legend(looks map[string]look) plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.Padding = vg.Points(3)
	listed := map[string]bool{"": true}
	for _, p := range f.Panels {
		for _, s := range p.Series {
			if !listed[s.Name] {
				listed[s.Name] = true
				legend.Add(s.Name, series(s).thumbnails(looks[s.Name])...)
			}
		}
	}
	if f.ErrorBars != "" {
		legend.Add(f.ErrorBars, whiskers{style: draw.LineStyle{Color: plot.New().X.Color, Width: whiskerWidth}})
	}
	return legend
}

// thumbnails returns what stands for the series in the legend.
func (s series) thumbnails(own look) []plot.Thumbnailer {
	line := &plotter.Line{LineStyle: s.lineStyle(own)}
	marks := &plotter.Scatter{GlyphStyle: s.glyphStyle(own)}
	switch s.Style {
	case figure.Points, figure.Stars:
		return []plot.Thumbnailer{marks}
	case figure.LinePoints, figure.Proved:
		return []plot.Thumbnailer{line, marks}
	case figure.Bars:
		return []plot.Thumbnailer{&barGroup{look: own}}
	}
	return []plot.Thumbnailer{line}
}

// Thumbnail implements plot.Thumbnailer.
func (b *barGroup) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(b.look.color, []vg.Point{
		{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y},
	})
}

// Thumbnail implements plot.Thumbnailer.
func (e whiskers) Thumbnail(c *draw.Canvas) {
	x := c.Center().X
	c.StrokeLines(e.style,
		[]vg.Point{{X: x, Y: c.Min.Y}, {X: x, Y: c.Max.Y}},
		[]vg.Point{{X: x - halfWhisker, Y: c.Min.Y}, {X: x + halfWhisker, Y: c.Min.Y}},
		[]vg.Point{{X: x - halfWhisker, Y: c.Max.Y}, {X: x + halfWhisker, Y: c.Max.Y}},
	)
}
