package features

import "github.com/hushgrad/hushgrad/fl"

// maxSide is the largest height and width of a picture.
const maxSide = 4096

// blocks cuts a grey picture, row after row, into squares of side×side pixels.
type blocks struct{ rows, cols, side int }

func (b blocks) validate() error {
	switch {
	case b.rows < 1 || b.rows > maxSide:
		return fl.Invalid("rows", b.rows, "must be in [1, %d]", maxSide)
	case b.cols < 1 || b.cols > maxSide:
		return fl.Invalid("cols", b.cols, "must be in [1, %d]", maxSide)
	case b.side < 1 || b.rows%b.side != 0 || b.cols%b.side != 0:
		return fl.Invalid("block", b.side, "must be at least 1 and divide the %d rows and %d columns", b.rows, b.cols)
	}
	return nil
}

// Inputs is the number of pixels.
func (b blocks) Inputs() int { return b.rows * b.cols }

// count is the number of squares.
func (b blocks) count() int { return b.Inputs() / (b.side * b.side) }

// of returns the index of the square with that pixel, from left to right and then down.
func (b blocks) of(row, col int) int { return row/b.side*(b.cols/b.side) + col/b.side }

func (b blocks) digest(kind string) [32]byte {
	r := newRecipe(kind)
	r.integers(b.rows, b.cols, b.side)
	return r.digest()
}
