package features

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// plane transforms complex pictures of one size. It is not safe for concurrent use.
type plane struct {
	rows, cols int
	along      *fourier.CmplxFFT // of a row
	down       *fourier.CmplxFFT // of a column
	turned     []complex128
}

func newPlane(rows, cols int) *plane {
	return &plane{rows: rows, cols: cols, along: fourier.NewCmplxFFT(cols), down: fourier.NewCmplxFFT(rows), turned: make([]complex128, rows*cols)}
}

// forward replaces a picture, row after row, by its transform, column after column.
func (p *plane) forward(x []complex128) {
	for r := range p.rows {
		row := x[r*p.cols : (r+1)*p.cols]
		p.along.Coefficients(row, row)
	}
	turn(p.turned, x, p.rows, p.cols)
	for c := range p.cols {
		p.down.Coefficients(x[c*p.rows:(c+1)*p.rows], p.turned[c*p.rows:(c+1)*p.rows])
	}
}

// backward undoes forward, but for the factor rows·cols, and returns the absolute values in dst.
func (p *plane) backward(dst []float64, x []complex128) {
	for c := range p.cols {
		column := x[c*p.rows : (c+1)*p.rows]
		p.down.Sequence(column, column)
	}
	turn(p.turned, x, p.cols, p.rows)
	for r := range p.rows {
		row := p.turned[r*p.cols : (r+1)*p.cols]
		p.along.Sequence(row, row)
		for c, v := range row {
			dst[r*p.cols+c] = math.Sqrt(real(v)*real(v) + imag(v)*imag(v))
		}
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
	strip                     []float64
}

// newAverager returns the Gaussian with that standard deviation, cut off where it is below 3e-4 of
// its peak. Its first result is at that row and column.
func newAverager(rows, cols, first, stride int, width float64) *averager {
	a := &averager{rows: rows, cols: cols, first: first, stride: stride, strip: make([]float64, cols)}
	reach := int(math.Ceil(4 * width))
	for i := -reach; i <= reach; i++ {
		a.taps = append(a.taps, math.Exp(-float64(i*i)/(2*width*width)))
	}
	floats.Scale(1/floats.Sum(a.taps), a.taps)
	return a
}

// apply writes high rows of wide averages.
func (a *averager) apply(dst, x []float64, high, wide int) {
	reach := len(a.taps) / 2
	for i := range high {
		clear(a.strip)
		for k, w := range a.taps {
			r := (a.first + i*a.stride + k - reach + a.rows) % a.rows
			floats.AddScaled(a.strip, w, x[r*a.cols:(r+1)*a.cols])
		}
		for j := range wide {
			sum, c := 0., (a.first+j*a.stride-reach+a.cols)%a.cols
			for _, w := range a.taps {
				sum += w * a.strip[c]
				if c++; c == a.cols {
					c = 0
				}
			}
			dst[i*wide+j] = sum
		}
	}
}
