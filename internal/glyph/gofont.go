package glyph

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"unicode"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/image/font/sfnt"
)

// compressed has the TrueType data of the Go fonts, as "go run ./bench/internal/gofonts" compresses them.
//
//go:embed gofonts/*.ttf.zst
var compressed embed.FS

// names are the faces in the order of the outlines. The small-caps faces are left out: their digits are the digits of the
// regular and the italic face.
var names = [...]string{"regular", "italic", "medium", "mediumitalic", "bold", "bolditalic", "mono", "monoitalic", "monobold", "monobolditalic"}

// openFace decompresses a face.
func openFace(name string) (*sfnt.Font, error) {
	data, err := compressed.ReadFile("gofonts/" + name + ".ttf.zst")
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	ttf, err := decoder.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("face %s: %w", name, err)
	}
	return sfnt.Parse(ttf)
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
	for _, name := range names {
		font, err := openFace(name)
		if err != nil {
			return nil, err
		}
		for k, character := range list {
			polygons, err := readPolygons(font, character)
			if err != nil {
				return nil, fmt.Errorf("face %s: character %q: %w", name, character, err)
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
	font, err := openFace("regular")
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
