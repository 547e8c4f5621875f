package paint

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// starGlyph is a filled star with five points, for Stars: gonum has none.
type starGlyph struct{}

// starSize is the radius of the star's points in radii of a mark. starWaist is the radius of the star's
// inner corners in radii of its points.
const (
	starSize  = 1.8
	starWaist = 0.4
)

// DrawGlyph implements draw.GlyphDrawer.
func (starGlyph) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	corners := make([]vg.Point, 10)
	for i := range corners {
		radius := float64(style.Radius) * starSize
		if i%2 == 1 {
			radius *= starWaist
		}
		sin, cos := math.Sincos(float64(i) * math.Pi / 5)
		corners[i] = vg.Point{X: at.X + vg.Length(radius*sin), Y: at.Y + vg.Length(radius*cos)}
	}
	c.FillPolygon(style.Color, corners)
}
