package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// faces returns the TrueType data of the Go fonts. The small-caps faces are
// left out: their digits are those of the regular and the italic face.
func faces() [][]byte {
	return [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF, gobolditalic.TTF,
		gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF,
	}
}

// curveSteps is the number n of straight pieces that stand for one quadratic
// curve. They stay within |a-2b+c|/4n² of a curve with control points a, b, c:
// 0.1 pixel for any curve of these faces in a digit of 21 pixels.
const curveSteps = 6

// A point is a position or direction in the plane, x to the right and y down.
type point struct{ x, y float64 }

// A vertex is a corner of an outline, and how far it moves when the outline is
// pushed out by one unit.
type vertex struct{ at, out point }

// An outline is a digit as closed polygons, in units of the em square. Holes
// run the other way round than what they are cut from.
type outline [][]vertex

// loadOutlines returns the outlines of each digit, one per face.
// O(faces · corners).
func loadOutlines() ([classes][]outline, error) {
	var all [classes][]outline
	for i, ttf := range faces() {
		font, err := sfnt.Parse(ttf)
		if err != nil {
			return all, fmt.Errorf("face %d: %w", i, err)
		}
		for d := range all {
			polygons, err := digitPolygons(font, d)
			if err != nil {
				return all, fmt.Errorf("face %d: digit %d: %w", i, d, err)
			}
			if d == 0 {
				polygons = removeSlash(polygons)
			}
			all[d] = append(all[d], newOutline(polygons))
		}
	}
	return all, nil
}

// digitPolygons reads the contours of digit d, with curves cut into pieces.
func digitPolygons(font *sfnt.Font, d int) ([][]point, error) {
	var buf sfnt.Buffer
	glyph, err := font.GlyphIndex(&buf, rune('0'+d))
	if err != nil {
		return nil, err
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
				polygons = append(polygons, dropRepeats(poly))
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
	return append(polygons, dropRepeats(poly)), nil
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

// removeSlash turns the slashed zero of the Go fonts into a plain one. The
// slash leaves two halves of the counter, which is convex, so that it is the
// convex hull of the two.
func removeSlash(zero [][]point) [][]point {
	ring := slices.MaxFunc(zero, func(a, b []point) int {
		return cmp.Compare(math.Abs(signedArea(a)), math.Abs(signedArea(b)))
	})
	var inner []point
	for _, poly := range zero {
		if &poly[0] != &ring[0] {
			inner = append(inner, poly...)
		}
	}
	counter := convexHull(inner)
	if (signedArea(counter) > 0) == (signedArea(ring) > 0) {
		slices.Reverse(counter)
	}
	return [][]point{ring, counter}
}

// convexHull returns the corners of the convex hull of points, in order.
// O(n log n); A. M. Andrew, "Another efficient algorithm for convex hulls in
// two dimensions", Information Processing Letters 9(5), 1979.
func convexHull(points []point) []point {
	sorted := slices.SortedFunc(slices.Values(points), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
	})
	var hull []point
	half := func(start int, p point) {
		for len(hull) >= start+2 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			if (b.x-a.x)*(p.y-a.y)-(b.y-a.y)*(p.x-a.x) > 0 {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, p)
	}
	for _, p := range sorted {
		half(0, p)
	}
	start := len(hull) - 1
	for _, p := range slices.Backward(sorted[:len(sorted)-1]) {
		half(start, p)
	}
	return hull[:len(hull)-1]
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
func newOutline(polygons [][]point) outline {
	total := 0.0
	for _, poly := range polygons {
		total += signedArea(poly)
	}
	// The ink lies on the same hand of every side, holes included; which hand
	// shows in the sign of the total area.
	hand := math.Copysign(1, total)
	o := make(outline, len(polygons))
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
