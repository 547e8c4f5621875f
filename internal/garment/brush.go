package garment

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// A Brush draws one picture at a time. It is not safe for concurrent use.
type Brush struct {
	raster *vector.Rasterizer
	mask   *image.Alpha
	light  [Side * Side]float64
	inside [Side * Side]float64
}

// NewBrush returns a brush.
func NewBrush() *Brush {
	return &Brush{raster: vector.NewRasterizer(Side, Side), mask: image.NewAlpha(image.Rect(0, 0, Side, Side))}
}

// Draw draws a thing of a class in [0, Classes) and writes the picture to dst: Side·Side grey values, row
// after row, 0 for the background. All that is random comes from rng.
func (b *Brush) Draw(dst []uint8, class int, rng *rand.Rand) {
	m := measure{rng}
	layers := cuts[class].lay(m)
	place(layers, m)
	body, second := m.weave(class), m.between(.1, 1)
	clear(b.light[:])
	clear(b.inside[:])
	for _, l := range layers {
		b.cover(l.corners)
		for i, a := range b.mask.Pix {
			if a == 0 {
				continue
			}
			share := float64(a) / 255
			if l.fill == shade {
				b.light[i] *= 1 - share*l.depth
				continue
			}
			light := second
			if l.fill == cloth {
				light = max(.05, body(float64(i%Side), float64(i/Side)))
			}
			b.light[i] += share * (light - b.light[i])
			b.inside[i] = max(b.inside[i], share)
		}
	}
	gain, noise := m.between(.8, 1.15), m.between(0, .08)
	for i, v := range b.light {
		if b.inside[i] > 0 {
			v = gain*v + b.inside[i]*noise*rng.NormFloat64()
		}
		dst[i] = uint8(math.Round(255 * max(0, min(1, v))))
	}
}

// DrawCloth draws cloth of a kind in [0, Cloths) that covers the whole picture, at any angle. dst and rng are as in Draw.
func (b *Brush) DrawCloth(dst []uint8, kind int, rng *rand.Rand) {
	m := measure{rng}
	cloth := m.woven(kind, m.between(.25, .75), m.between(.1, .45), m.between(0, 2*math.Pi))
	noise := m.between(.02, .12)
	for i := range Side * Side {
		v := cloth(float64(i%Side), float64(i/Side)) + noise*rng.NormFloat64()
		dst[i] = uint8(math.Round(255 * max(0, min(1, v))))
	}
}

// place puts layers on the picture, in pixels: bent a little, with the longer side of their box in
// [23, 27] and the box's centre near the picture's centre.
func place(layers []layer, m measure) {
	sin, cos := math.Sincos(m.around(0, .06))
	aspect, shear := math.Exp(m.around(0, .07)), m.around(0, .05)
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, l := range layers {
		for i, c := range l.corners {
			c = point{c.x*aspect + shear*c.y, c.y / aspect}
			c = point{cos*c.x - sin*c.y, sin*c.x + cos*c.y}
			l.corners[i] = c
			if l.fill != shade {
				lo, hi = point{min(lo.x, c.x), min(lo.y, c.y)}, point{max(hi.x, c.x), max(hi.y, c.y)}
			}
		}
	}
	size := m.between(23, 27) / max(hi.x-lo.x, hi.y-lo.y)
	x0, y0 := Side/2-size*(lo.x+hi.x)/2+m.around(0, .4), Side/2-size*(lo.y+hi.y)/2+m.around(0, .4)
	for _, l := range layers {
		for i, c := range l.corners {
			l.corners[i] = point{x0 + size*c.x, y0 + size*c.y}
		}
	}
}

// cover writes to the mask how much of each pixel a polygon covers.
func (b *Brush) cover(corners []point) {
	b.raster.Reset(Side, Side)
	b.raster.DrawOp = draw.Src
	for i, c := range corners {
		if i == 0 {
			b.raster.MoveTo(float32(c.x), float32(c.y))
		} else {
			b.raster.LineTo(float32(c.x), float32(c.y))
		}
	}
	b.raster.ClosePath()
	b.raster.Draw(b.mask, b.mask.Rect, image.Opaque, image.Point{})
}
