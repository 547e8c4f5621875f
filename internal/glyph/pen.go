package glyph

import (
	"image"
	"image/draw"
	"math"
	"math/rand/v2"

	"golang.org/x/image/vector"
)

// A Pen draws one picture at a time: Draw, Spoil, Develop.
// It is not safe for concurrent use.
type Pen struct {
	raster  *vector.Rasterizer
	mask    *image.Alpha
	corners []point
	ends    []int // corners[ends[i-1]:ends[i]] is polygon i
	ink     [Side * Side]float64
}

// NewPen returns a pen.
func NewPen() *Pen {
	return &Pen{raster: vector.NewRasterizer(Side, Side), mask: image.NewAlpha(image.Rect(0, 0, Side, Side))}
}

// Draw puts the character o in style s on an empty picture, with its blur and gain
// but without noise: ink in [0,1].
func (p *Pen) Draw(o Outline, s *Style) {
	p.place(o, s)
	p.raster.Reset(Side, Side)
	p.raster.DrawOp = draw.Src
	start := 0
	for _, end := range p.ends {
		for i, c := range p.corners[start:end] {
			if i == 0 {
				p.raster.MoveTo(float32(c.x), float32(c.y))
			} else {
				p.raster.LineTo(float32(c.x), float32(c.y))
			}
		}
		p.raster.ClosePath()
		start = end
	}
	p.raster.Draw(p.mask, p.mask.Rect, image.Opaque, image.Point{})
	for i, a := range p.mask.Pix {
		p.ink[i] = float64(a) / 255
	}
	p.blur(s.Blur)
	for i, v := range p.ink {
		p.ink[i] = min(1, v*s.Gain)
	}
}

// place fills corners with the outline in picture coordinates: the centre of
// mass of its ink at the centre of the picture plus (s.DX, s.DY), and the longer
// side of its box s.Size.
func (p *Pen) place(o Outline, s *Style) {
	p.corners, p.ends = p.corners[:0], p.ends[:0]
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	var area, mx, my float64 // twice the area of the ink, six times its moments
	for _, poly := range o {
		start := len(p.corners)
		for _, v := range poly {
			c := s.bend(v)
			lo, hi = point{min(lo.x, c.x), min(lo.y, c.y)}, point{max(hi.x, c.x), max(hi.y, c.y)}
			p.corners = append(p.corners, c)
		}
		a := p.corners[len(p.corners)-1]
		for _, b := range p.corners[start:] {
			cross := a.x*b.y - b.x*a.y
			area += cross
			mx += cross * (a.x + b.x)
			my += cross * (a.y + b.y)
			a = b
		}
		p.ends = append(p.ends, len(p.corners))
	}
	scale := s.Size / max(hi.x-lo.x, hi.y-lo.y)
	x0 := Side/2 + s.DX - scale*mx/(3*area)
	y0 := Side/2 + s.DY - scale*my/(3*area)
	for i, c := range p.corners {
		p.corners[i] = point{x0 + scale*c.x, y0 + scale*c.y}
	}
}

// blur replaces each row, and then each column, by its mean with weights
// (w, 1-2w, w). What leaves the picture is lost.
func (p *Pen) blur(w float64) {
	for _, dir := range [2]struct{ next, line int }{{1, Side}, {Side, 1}} {
		for l := range Side {
			before := 0.0
			for j := range Side {
				at := l*dir.line + j*dir.next
				after := 0.0
				if j < Side-1 {
					after = p.ink[at+dir.next]
				}
				v := p.ink[at]
				p.ink[at] = (1-2*w)*v + w*(before+after)
				before = v
			}
		}
	}
}

// Spoil multiplies each pixel by 1 plus normal noise, which leaves the paper
// clean as in MNIST, and adds s.Specks dots anywhere.
func (p *Pen) Spoil(s *Style, rng *rand.Rand) {
	for i, v := range p.ink {
		if v > 0 {
			p.ink[i] = min(1, max(0, v*(1+s.Noise*rng.NormFloat64())))
		}
	}
	for range s.Specks {
		at := rng.IntN(len(p.ink))
		p.ink[at] = max(p.ink[at], rng.Float64())
	}
}

// Develop writes the picture to dst, Side·Side values row after row, in steps of 1/255.
func (p *Pen) Develop(dst []uint8) {
	for i, v := range p.ink {
		dst[i] = uint8(math.Round(255 * v))
	}
}
