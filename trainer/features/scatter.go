package features

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	scatterScales = 2 // J: what is averaged is 2^J pixels wide
	scatterAngles = 8 // L, over half a turn
	// scatterStride is the distance of two averages, in pixels.
	scatterStride = 1 << scatterScales
	// scatterMargin is how many pixels of the picture are mirrored at each border.
	scatterMargin = scatterStride / 2
	// ScatterChannels is the number of channels of Scatter.
	ScatterChannels = 1 + scatterScales*scatterAngles + scatterAngles*scatterAngles

	leastScatterSide, largestScatterSide = 8, 256
)

type scatter struct {
	rows, cols int
	filters    bank
	spaces     sync.Pool // *space
}

// Scatter returns the scattering transform of a grey picture with J = 2 scales, L = 8 angles and two
// orders: averages over about 4×4 pixels of the picture x, of |x⋆ψ| for 16 Morlet wavelets ψ, and of
// ||x⋆ψ|⋆ψ'| for the 64 pairs with ψ of scale 0 and ψ' of scale 1. It finds edges, and how edges meet, and
// changes little when the picture moves by a pixel or bends. Nothing in it is learned.
// A linear model on it is better than one on edges:
// Bruna and Mallat, "Invariant Scattering Convolution Networks", 2013;
// Tramèr and Boneh, "Differentially Private Learning Needs Better Features", 2021.
//
// The vector has 81 channels, one after the other, of rows/4 × cols/4 values each, row after row. All
// are at least 0 where grey values are. The picture is mirrored by 2 pixels at each border, and then
// goes on periodically. Its energy is not increased: 4·‖S(x)−S(y)‖ is at most ‖x−y‖ over the mirrored
// pictures, but for a few percent by sampling.
//
// It takes O(n log n) for n pixels: 89 transforms, about 0.7 ms for 28×28 pixels. The error
// names rows or cols unless they are multiples of 4 in [8, 256].
func Scatter(rows, cols int) (Features, error) {
	for _, s := range []struct {
		name string
		size int
	}{{"rows", rows}, {"cols", cols}} {
		if s.size < leastScatterSide || s.size > largestScatterSide || s.size%scatterStride != 0 {
			return nil, fmt.Errorf("features: scatter: %w", fl.Invalid(s.name, s.size, "must be a multiple of %d in [%d, %d]", scatterStride, leastScatterSide, largestScatterSide))
		}
	}
	s := &scatter{rows: rows, cols: cols}
	s.filters = newBank(s.high(), s.wide())
	for _, scale := range s.filters {
		for _, wavelet := range scale {
			floats.Scale(1/float64(len(wavelet)), wavelet) // what a transform and its inverse multiply by
		}
	}
	s.spaces.New = func() any { return newSpace(s.high(), s.wide()) }
	return s, nil
}

// high and wide are the size of the mirrored picture.
func (s *scatter) high() int { return s.rows + 2*scatterMargin }
func (s *scatter) wide() int { return s.cols + 2*scatterMargin }

func (s *scatter) Inputs() int { return s.rows * s.cols }
func (s *scatter) Dim() int    { return ScatterChannels * s.positions() }

// positions is the number of values of a channel.
func (s *scatter) positions() int { return s.rows / scatterStride * (s.cols / scatterStride) }

func (s *scatter) Digest() [32]byte {
	r := newRecipe("scatter")
	r.integers(s.rows, s.cols, scatterScales, scatterAngles)
	return r.digest()
}

func (s *scatter) String() string {
	return fmt.Sprintf("scattering of %d scales and %d angles", scatterScales, scatterAngles)
}

// space is the memory of one transform.
type space struct {
	full, half          *plane
	picture, magnitude  []float64
	transform, first    []complex128 // of the picture, and of the absolute value of a wavelet
	product, subsampled []complex128
	average, coarse     *averager
}

func newSpace(rows, cols int) *space {
	n := rows * cols
	return &space{
		full: newPlane(rows, cols), half: newPlane(rows/2, cols/2),
		picture: make([]float64, n), magnitude: make([]float64, n),
		transform: make([]complex128, n), first: make([]complex128, n), product: make([]complex128, n), subsampled: make([]complex128, n/4),
		// The middle of the first 4×4 pixels, rounded up to an even row and column.
		average: newAverager(rows, cols, 2*scatterMargin, scatterStride, morletWidth*2),
		coarse:  newAverager(rows/2, cols/2, scatterMargin, scatterStride/2, morletWidth),
	}
}

func (s *scatter) Apply(dst, x []float64) {
	check(s, dst, x)
	m := s.spaces.Get().(*space)
	defer s.spaces.Put(m)
	next := func(from *averager, values []float64) {
		from.apply(dst[:s.positions()], values, s.rows/scatterStride, s.cols/scatterStride)
		dst = dst[s.positions():]
	}
	s.mirror(m.picture, x)
	next(m.average, m.picture)
	complexOf(m.transform, m.picture)
	m.full.forward(m.transform)
	for _, wavelet := range s.filters[0] {
		multiply(m.product, m.transform, wavelet)
		m.full.backward(m.magnitude, m.product)
		next(m.average, m.magnitude)
		complexOf(m.first, m.magnitude)
		m.full.forward(m.first)
		for _, wavelet := range s.filters[1] {
			next(m.coarse, m.sample(m.first, wavelet))
		}
	}
	for _, wavelet := range s.filters[1] {
		next(m.coarse, m.sample(m.transform, wavelet))
	}
}

// mirror writes the picture with its margins: the pixels next to a border are repeated behind it.
func (s *scatter) mirror(dst, x []float64) {
	inside := func(i, n int) int {
		if i < 0 {
			return -1 - i
		}
		if i >= n {
			return 2*n - 1 - i
		}
		return i
	}
	for r := range s.high() {
		from := inside(r-scatterMargin, s.rows) * s.cols
		for c := range s.wide() {
			dst[r*s.wide()+c] = x[from+inside(c-scatterMargin, s.cols)]
		}
	}
}

func complexOf(dst []complex128, x []float64) {
	for i, v := range x {
		dst[i] = complex(v, 0)
	}
}

func multiply(dst, x []complex128, wavelet []float64) {
	for i, w := range wavelet {
		dst[i] = complex(real(x[i])*w, imag(x[i])*w)
	}
}

// sample returns the absolute value of every second pixel of every second row of a product with a wavelet:
// frequencies that differ by half of all look the same there, and add up.
func (m *space) sample(transform []complex128, wavelet []float64) []float64 {
	rows, high := m.full.rows, m.half.rows
	for c := range m.half.cols {
		near, far := c*rows, (c+m.half.cols)*rows
		a, b, e, d := transform[near:][:high], transform[near+high:][:high], transform[far:][:high], transform[far+high:][:high]
		wa, wb, we, wd := wavelet[near:][:high], wavelet[near+high:][:high], wavelet[far:][:high], wavelet[far+high:][:high]
		to := m.subsampled[c*high:][:high]
		for r := range to {
			to[r] = complex(
				real(a[r])*wa[r]+real(b[r])*wb[r]+real(e[r])*we[r]+real(d[r])*wd[r],
				imag(a[r])*wa[r]+imag(b[r])*wb[r]+imag(e[r])*we[r]+imag(d[r])*wd[r])
		}
	}
	values := m.magnitude[:len(m.subsampled)]
	m.half.backward(values, m.subsampled)
	return values
}
