package glyph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode"

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
)

// faces returns the TrueType data of the Go fonts. The small-caps faces are
// left out: their digits are the digits of the regular and the italic face.
func faces() [][]byte {
	return [][]byte{
		goregular.TTF, goitalic.TTF, gomedium.TTF, gomediumitalic.TTF, gobold.TTF, gobolditalic.TTF,
		gomono.TTF, gomonoitalic.TTF, gomonobold.TTF, gomonobolditalic.TTF,
	}
}

// Digits returns the outlines of the ten digits in the Go fonts, one per face.
// O(faces · corners).
func Digits() (digits [10][]Outline, err error) {
	all, err := Characters([]rune("0123456789"))
	copy(digits[:], all)
	return digits, err
}

// Characters returns the outlines of characters in the Go fonts, one per face. The zero has no slash. O(faces · corners).
func Characters(list []rune) ([][]Outline, error) {
	all := make([][]Outline, len(list))
	for i, ttf := range faces() {
		font, err := sfnt.Parse(ttf)
		if err != nil {
			return nil, fmt.Errorf("face %d: %w", i, err)
		}
		for k, character := range list {
			polygons, err := readPolygons(font, character)
			if err != nil {
				return nil, fmt.Errorf("face %d: character %q: %w", i, character, err)
			}
			if character == '0' {
				polygons = removeSlash(polygons)
			}
			all[k] = append(all[k], newOutline(polygons))
		}
	}
	return all, nil
}

// Alphabet returns up to n letters and digits that the Go fonts have: the ten digits, the capital and the small letters of
// English, and then letters of other languages. No two look the same in the regular face.
func Alphabet(n int) ([]rune, error) {
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	var out []rune
	seen := map[string]bool{}
	for r := '0'; r <= 'ӿ' && len(out) < n; r++ {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		polygons, err := readPolygons(font, r)
		if key := fmt.Sprint(polygons); err == nil && !seen[key] {
			out, seen[key] = append(out, r), true
		}
	}
	return out, nil
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
