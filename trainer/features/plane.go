package features

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// plane transforms complex pictures of one size. It is not safe for concurrent use.
type plane struct {
	rows, cols                       int
	along, down, alongBack, downBack fft // of a row, and of a column
	spare                            []complex128
}

func newPlane(rows, cols int) *plane {
	return &plane{
		rows: rows, cols: cols, spare: make([]complex128, rows*cols),
		along: newFFT(cols, -1), down: newFFT(rows, -1), alongBack: newFFT(cols, 1), downBack: newFFT(rows, 1),
	}
}

// forward replaces a picture, row after row, by its transform, column after column.
func (p *plane) forward(x []complex128) {
	down, free := p.down.columns(x, p.spare, p.cols)
	turn(free, down, p.rows, p.cols)
	along, _ := p.along.columns(free, down, p.rows)
	copy(x, along)
}

// backward undoes forward, but for the factor rows·cols, and returns the absolute values in dst. It overwrites x.
func (p *plane) backward(dst []float64, x []complex128) {
	along, free := p.alongBack.columns(x, p.spare, p.rows)
	turn(free, along, p.cols, p.rows)
	down, _ := p.downBack.columns(free, along, p.cols)
	for i, v := range down {
		dst[i] = math.Sqrt(real(v)*real(v) + imag(v)*imag(v))
	}
}

// turn writes the transpose of a rows×cols matrix.
func turn(dst, src []complex128, rows, cols int) {
	for r := range rows {
		for c, v := range src[r*cols : (r+1)*cols] {
			dst[c*rows+r] = v
		}
	}
}

// averager is a Gaussian that is looked at in every stride-th pixel of every stride-th row of a
// picture that goes on periodically. It is not safe for concurrent use.
type averager struct {
	rows, cols, first, stride int
	taps                      []float64 // around the middle; they sum to 1
	strip                     []float64 // a row of averages of columns, and its beginning again
}

// newAverager returns the Gaussian with that standard deviation, cut off where it is below 3e-4 of
// its peak. Its first result is at that row and column.
func newAverager(rows, cols, first, stride int, width float64) *averager {
	a := &averager{rows: rows, cols: cols, first: first, stride: stride}
	reach := int(math.Ceil(4 * width))
	for i := -reach; i <= reach; i++ {
		a.taps = append(a.taps, math.Exp(-float64(i*i)/(2*width*width)))
	}
	floats.Scale(1/floats.Sum(a.taps), a.taps)
	a.strip = make([]float64, cols+len(a.taps)-1)
	return a
}

// apply writes high rows of wide averages.
func (a *averager) apply(dst, x []float64, high, wide int) {
	reach := len(a.taps) / 2
	for i := range high {
		row := a.strip[:a.cols]
		clear(row)
		for k, w := range a.taps {
			r := (a.first + i*a.stride + k - reach + a.rows) % a.rows
			floats.AddScaled(row, w, x[r*a.cols:(r+1)*a.cols])
		}
		for c := a.cols; c < len(a.strip); c++ {
			a.strip[c] = a.strip[c-a.cols] // the picture goes on periodically
		}
		for j := range wide {
			c := (a.first + j*a.stride - reach + a.cols) % a.cols
			dst[i*wide+j] = floats.Dot(a.taps, a.strip[c:c+len(a.taps)])
		}
	}
}
