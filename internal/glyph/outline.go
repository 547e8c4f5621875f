package glyph

import (
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// curveSteps is the number n of straight pieces that stand for one quadratic
// curve. They stay within |a-2b+c|/4n² of a curve with control points a, b, c:
// 0.1 pixel for any curve of the Go fonts in a digit of 21 pixels.
const curveSteps = 6

// A point is a position or direction in the plane, x to the right and y down.
type point struct{ x, y float64 }

// A vertex is a corner of an outline, and how far it moves when the outline is
// pushed out by one unit.
type vertex struct{ at, out point }

// An Outline is a character as closed polygons, in units of the em square. Holes
// run the other way round than what they are cut from.
type Outline [][]vertex

// Read returns the outline of a character of a TrueType font. The error says that the font
// does not have it, or has it with cubic curves or without ink.
func Read(font *sfnt.Font, character rune) (Outline, error) {
	polygons, err := readPolygons(font, character)
	if err != nil {
		return nil, err
	}
	o := newOutline(polygons)
	if width := o.Stroke(); !(width > 0) {
		return nil, fl.Invalid("ink", width, "must be an area inside closed curves")
	}
	return o, nil
}

// readPolygons reads the contours of a character, with curves cut into pieces.
func readPolygons(font *sfnt.Font, character rune) ([][]point, error) {
	var buf sfnt.Buffer
	glyph, err := font.GlyphIndex(&buf, character)
	if err != nil {
		return nil, err
	}
	if glyph == 0 {
		return nil, fl.Invalid("character", string(character), "must be one that the font has")
	}
	// At this size one pixel is one font unit, in which all coordinates are whole.
	em := fixed.Int26_6(font.UnitsPerEm())
	segments, err := font.LoadGlyph(&buf, glyph, em, nil)
	if err != nil {
		return nil, err
	}
	var polygons [][]point
	var poly []point
	at := func(p fixed.Point26_6) point { return point{float64(p.X) / float64(em), float64(p.Y) / float64(em)} }
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if len(poly) > 0 {
				polygons = appendPolygon(polygons, poly)
			}
			poly = []point{at(s.Args[0])}
		case sfnt.SegmentOpLineTo:
			poly = append(poly, at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			a, b, c := poly[len(poly)-1], at(s.Args[0]), at(s.Args[1])
			for i := 1; i <= curveSteps; i++ {
				t := float64(i) / curveSteps
				u := 1 - t
				poly = append(poly, point{u*u*a.x + 2*u*t*b.x + t*t*c.x, u*u*a.y + 2*u*t*b.y + t*t*c.y})
			}
		default:
			return nil, fl.Invalid("segment kind", s.Op, "must be a line or a quadratic curve")
		}
	}
	return appendPolygon(polygons, poly), nil
}

// appendPolygon adds a polygon without repeated corners, if it has any area.
func appendPolygon(polygons [][]point, poly []point) [][]point {
	if poly = dropRepeats(poly); len(poly) > 2 {
		polygons = append(polygons, poly)
	}
	return polygons
}

// dropRepeats removes each corner that equals the one before it, the last being
// before the first.
func dropRepeats(poly []point) []point {
	poly = slices.Compact(poly)
	for len(poly) > 1 && poly[0] == poly[len(poly)-1] {
		poly = poly[:len(poly)-1]
	}
	return poly
}

// signedArea returns the area inside a polygon, negative when it runs the other
// way round.
func signedArea(poly []point) float64 {
	sum := 0.0
	for i, p := range poly {
		q := poly[(i+1)%len(poly)]
		sum += p.x*q.y - q.x*p.y
	}
	return sum / 2
}

// newOutline adds to each corner the way it moves when ink is added all along
// the outline: the mean direction of the two sides, stretched so that both move
// by one unit. That takes up to 3 units at the corners of a digit; a sharper
// one moves less far.
func newOutline(polygons [][]point) Outline {
	total := 0.0
	for _, poly := range polygons {
		total += signedArea(poly)
	}
	// The ink lies on the same hand of every side, holes included; which hand
	// shows in the sign of the total area.
	hand := math.Copysign(1, total)
	o := make(Outline, len(polygons))
	for i, poly := range polygons {
		o[i] = make([]vertex, len(poly))
		for j, p := range poly {
			before := normal(poly[(j+len(poly)-1)%len(poly)], p)
			after := normal(p, poly[(j+1)%len(poly)])
			out := point{before.x + after.x, before.y + after.y}
			// |out|² = 2 + 2·cos(turn), and the stretched vector is
			// out·2/|out|², of length 2/|out|; it is 3 for |out|² = 4/9.
			stretch := 2 / max(4./9, out.x*out.x+out.y*out.y)
			o[i][j] = vertex{at: p, out: point{hand * stretch * out.x, hand * stretch * out.y}}
		}
	}
	return o
}

// normal returns the unit vector at a right angle to the side from a to b.
func normal(a, b point) point {
	dx, dy := b.x-a.x, b.y-a.y
	l := math.Hypot(dx, dy)
	return point{dy / l, -dx / l}
}

// Extent returns the longer side of the box around o, in em. O(corners).
func (o Outline) Extent() float64 {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, poly := range o {
		for _, v := range poly {
			lo, hi = point{min(lo.x, v.at.x), min(lo.y, v.at.y)}, point{max(hi.x, v.at.x), max(hi.y, v.at.y)}
		}
	}
	return max(hi.x-lo.x, hi.y-lo.y)
}

// Stroke returns the mean width of the strokes of o, in em: twice the area of the ink over
// the length of its edge, which is exact for a long thin stroke. It is 0 without ink.
// O(corners).
func (o Outline) Stroke() float64 {
	area, length := 0.0, 0.0
	for _, poly := range o {
		for j, v := range poly {
			w := poly[(j+1)%len(poly)]
			area += (v.at.x*w.at.y - w.at.x*v.at.y) / 2
			length += math.Hypot(w.at.x-v.at.x, w.at.y-v.at.y)
		}
	}
	if length == 0 {
		return 0
	}
	return 2 * math.Abs(area) / length
}
