package features

import (
	"fmt"
	"math"
)

// edgeDirections is the number of channels of Edges.
const edgeDirections = 4

type edges struct{ blocks }

// Edges returns the map from a grey picture to oriented edges: how much the grey value changes
// across a vertical, a horizontal, a falling and a rising line, averaged over squares of
// block×block pixels. The four channels follow one another, each square after square. A linear
// model on edges is far better than one on pixels:
// Dalal and Triggs, "Histograms of Oriented Gradients for Human Detection", 2005;
// Tramèr and Boneh, "Differentially Private Learning Needs Better Features", 2021.
//
// With the central differences (x, y) at a pixel and their angle φ, the channels are the
// positive parts of ±r·cos 2φ and ±r·sin 2φ, where r = √(x²+y²): an edge counts for the
// direction it has, whichever of its sides is dark. Pixels of the border have none. O(rows·cols).
//
// The error names rows or cols unless they are in [1, 4096], and block unless it divides both.
func Edges(rows, cols, block int) (Features, error) {
	e := edges{blocks{rows, cols, block}}
	if err := e.validate(); err != nil {
		return nil, fmt.Errorf("features: edges: %w", err)
	}
	return e, nil
}

func (e edges) Dim() int         { return edgeDirections * e.count() }
func (e edges) Digest() [32]byte { return e.digest("edges") }
func (e edges) String() string   { return fmt.Sprintf("edges of %d×%d pixels", e.side, e.side) }

func (e edges) Apply(dst, x []float64) {
	check(e, dst, x)
	clear(dst)
	squares, share := e.count(), 1/float64(e.side*e.side)
	for r := 1; r+1 < e.rows; r++ {
		for c := 1; c+1 < e.cols; c++ {
			at := r*e.cols + c
			dx, dy := (x[at+1]-x[at-1])/2, (x[at+e.cols]-x[at-e.cols])/2
			square := dx*dx + dy*dy
			if square == 0 {
				continue
			}
			scale, block := share/math.Sqrt(square), e.of(r, c)
			add := func(channel int, v float64) {
				if v < 0 {
					channel, v = channel+1, -v
				}
				dst[channel*squares+block] += v * scale
			}
			add(0, dx*dx-dy*dy)
			add(2, 2*dx*dy)
		}
	}
}
