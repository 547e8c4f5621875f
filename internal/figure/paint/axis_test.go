package paint

import (
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"

	"github.com/hushgrad/hushgrad/internal/figure"
)

// The font has the characters of the titles that are not in every font.
func TestTitlesAreInTheFont(t *testing.T) {
	face := font.DefaultCache.Lookup(plot.New().X.Tick.Label.Font, 12).Face
	for _, r := range "εδτσμℓ∞₂²×·–" {
		if glyph, err := face.GlyphIndex(nil, r); err != nil || glyph == 0 {
			t.Errorf("the font has no %q, %v", r, err)
		}
	}
}

// Marks of categories keep away from the ends of the axis. Marks of curves need not.
func TestMarksOfCategoriesHaveRoom(t *testing.T) {
	for _, c := range []struct {
		categories []string
		style      figure.Style
		low, high  float64
	}{{nil, figure.Points, 1, 2}, {[]string{"a", "b"}, figure.Points, 0.96, 2.04}, {[]string{"a", "b"}, figure.Bars, 0, 2}} {
		s := figure.Series{Y: []float64{1, 2}, Style: c.style}
		if c.style != figure.Bars {
			s.X = []float64{0, 1}
		}
		p := figure.Panel{Categories: c.categories, Series: []figure.Series{s}}
		f := figure.Figure{Panels: []figure.Panel{p}}
		drawn, err := panel(p).plot((*picture)(&f).looks(), panelHeight)
		if err != nil || drawn.Y.Min != c.low || drawn.Y.Max != c.high {
			t.Errorf("%q, style %d: the axis goes from %g to %g, want %g and %g, %v", c.categories, c.style, drawn.Y.Min, drawn.Y.Max, c.low, c.high, err)
		}
	}
}
