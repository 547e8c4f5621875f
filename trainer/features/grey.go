package features

import "fmt"

// Picture is a map whose vectors are grey pictures again, row after row. Models with convolutions
// need one.
type Picture interface {
	Features
	// Size returns the height and the width in pixels: Dim is their product.
	Size() (rows, cols int)
}

type grey struct{ blocks }

// Grey returns the map to a picture that is block times smaller in each direction: each pixel is
// the mean of a square of block×block pixels. So values in [0, 1] stay in [0, 1]. O(rows·cols).
//
// The error names rows or cols unless they are in [1, 4096], and block unless it divides both.
func Grey(rows, cols, block int) (Picture, error) {
	g := grey{blocks{rows, cols, block}}
	if err := g.validate(); err != nil {
		return nil, fmt.Errorf("features: grey: %w", err)
	}
	return g, nil
}

func (g grey) Dim() int               { return g.count() }
func (g grey) Size() (rows, cols int) { return g.rows / g.side, g.cols / g.side }
func (g grey) Digest() [32]byte       { return g.digest("grey") }
func (g grey) String() string         { return fmt.Sprintf("grey values of %d×%d pixels", g.side, g.side) }

func (g grey) Apply(dst, x []float64) {
	check(g, dst, x)
	clear(dst)
	for r := range g.rows {
		for c := range g.cols {
			dst[g.of(r, c)] += x[r*g.cols+c]
		}
	}
	area := float64(g.side * g.side)
	for i := range dst {
		dst[i] /= area
	}
}
