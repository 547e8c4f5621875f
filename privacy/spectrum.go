package privacy

import (
	"context"
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

// negligibleFrequencies is what the frequencies that are left out may do to the sum of all
// masses of a window.
const negligibleFrequencies = 1e-18

// A spectrum is a tail that is known by the few frequencies of its window that matter. The sum
// of many smooth losses has a law that is smoother still: a thousand rounds have about a hundred
// frequencies in a window of a million points. The mass at position i of the window is
//
//	m_i = Σ_j Re(z_j·e^{2πi·j/n·√−1}),
//
// so that the sums over positions are geometric ones.
type spectrum struct {
	waves       []wave
	size        int // n
	theta, step float64
}

// A wave is one frequency j and its coefficient z_j.
type wave struct {
	frequency   int
	coefficient complex128
}

// spectrum computes the window from the frequencies that matter, if those are few. few says whether.
//
// What the others can do is bounded by a transform of each law at cells frequencies. Between two
// of them the transform changes by at most the distance times E|X − c| for any c, and that is at
// most the standard deviation. Direct sums of blocks have errors below e for each frequency that
// is kept, and otherwise errors are as in pointwise.
//
// Cost: O(cells·log(cells)) for each law, and O(len(weight)) for each law and frequency.
func (w *window) spectrum(ctx context.Context, laws []tilted) (few bool, err error) {
	widest, points := 1, 0
	for _, l := range laws {
		widest, points = max(widest, l.reach()), points+len(l.weight)
	}
	cells := 1 << bits.Len(uint(4*widest))
	if w.size <= 2*cells {
		return false, nil
	}
	log, err := logModuli(ctx, laws, cells)
	if err != nil {
		return false, err
	}
	// Frequency j lies in the cell of the nearest of the cells frequencies.
	each := w.size / cells
	s := &spectrum{size: w.size, theta: w.theta, step: w.step}
	rest := 0.0
	for cell, log := range log {
		all := float64(2*each) * math.Exp(2*log)
		if all*float64(cells) <= negligibleFrequencies*negligibleFrequencies {
			rest += all
			continue
		}
		for j := max(0, cell*each-each/2+1); j <= min(w.size/2, cell*each+each/2); j++ {
			s.waves = append(s.waves, wave{frequency: j})
		}
	}
	const costOfFFT = 16 // of a point, relative to a term of a direct sum
	if len(s.waves) > w.size/8 || len(s.waves)*points > costOfFFT*w.size*len(laws) {
		return false, nil
	}
	off := 0.0
	for i := range s.waves {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		bound, factor := 0.0, 0.0
		j := s.waves[i].frequency
		z := s.turn(j, w.first) // positions count from the start of the window
		for _, l := range laws {
			c, e := s.transform(l, j)
			size := cmplx.Abs(c) + e
			bound, factor = bound+l.count*math.Log(size), factor+l.count*e/size
			z *= cmplx.Pow(c, complex(l.count, 0))
		}
		if 0 < j && j < w.size/2 {
			z *= 2 // for frequency −j
		}
		s.waves[i].coefficient = z / complex(float64(w.size), 0)
		off += 2 * math.Exp(2*bound) * factor * factor
	}
	w.tail = s
	w.roundoff = math.Sqrt(off) + math.Sqrt(rest)
	return true, nil
}

// logModuli returns, for the frequencies l/cells of a cycle per point up to one half, a bound on
// the logarithm of the product of all transforms at most half of 1/cells away.
func logModuli(ctx context.Context, laws []tilted, cells int) ([]float64, error) {
	out := make([]float64, cells/2+1)
	fft := fourier.NewFFT(cells)
	folded, z := make([]float64, cells), make([]complex128, len(out))
	e := 8 * float64(bits.Len(uint(cells))) * ulp
	for _, l := range laws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(folded)
		for i, weight := range l.weight {
			folded[(i-l.reach())&(cells-1)] += weight
		}
		fft.Coefficients(z, folded)
		near := (1 + 1e-9) * l.deviation * math.Pi / float64(cells)
		for i, c := range z {
			out[i] += l.count * math.Log(math.Min(1, cmplx.Abs(c)+e+near))
		}
	}
	return out, nil
}

// turn returns e^{2πjp/n·√−1}, with an error below 10 ulp. n is a power of 2.
func (s *spectrum) turn(j, p int) complex128 {
	part := (j * p) & (s.size - 1)
	if part > s.size/2 {
		part -= s.size
	}
	sin, cos := math.Sincos(2 * math.Pi * float64(part) / float64(s.size))
	return complex(cos, sin)
}

// transform returns Σ weight·e^{−i·λ_j} of a law and a bound on its error: of 10 ulp for each of two
// factors, and of one for each term of two sums.
func (s *spectrum) transform(l tilted, j int) (z complex128, e float64) {
	length := int(math.Sqrt(float64(len(l.weight)))) + 1
	re, im := make([]float64, length), make([]float64, length)
	for i := range length {
		turn := s.turn(j, -i)
		re[i], im[i] = real(turn), imag(turn)
	}
	blocks := 0
	for start := 0; start < len(l.weight); start += length {
		block := l.weight[start:min(start+length, len(l.weight))]
		var x, y float64
		for i, weight := range block {
			x, y = x+weight*re[i], y+weight*im[i]
		}
		z += complex(x, y) * s.turn(j, l.reach()-start)
		blocks++
	}
	return z, float64(30+length+blocks) * ulp
}

// above adds two geometric sums for each wave: e^{−theta·x} and e^{−(theta+1)·x} fall by a factor
// from one point to the next. Cost: O(waves).
func (s *spectrum) above(start int, gap float64) (sum, off float64) {
	terms := s.size - start
	near, far := math.Exp(-s.theta*gap), math.Exp(-(s.theta+1)*gap)
	for _, w := range s.waves {
		a, sizeA := s.geometric(w.frequency, terms, s.theta*s.step)
		b, sizeB := s.geometric(w.frequency, terms, (s.theta+1)*s.step)
		sum += real(w.coefficient * s.turn(w.frequency, start) * (complex(near, 0)*a - complex(far, 0)*b))
		off += cmplx.Abs(w.coefficient) * (near*sizeA + far*sizeB)
	}
	return sum, off * (128 + float64(len(s.waves))) * ulp
}

// geometric returns Σ_{l < terms} e^{l·x}, x = 2πj/n·√−1 − decay, and a size: the error is below
// 64 ulp of it. The sum is (e^{terms·x} − 1)/(e^x − 1). At frequency 0 all is real, and the relative
// error is small. Elsewhere the error of the numerator is small beside 2.
func (s *spectrum) geometric(j, terms int, decay float64) (sum complex128, size float64) {
	if j == 0 {
		if decay == 0 {
			return complex(float64(terms), 0), float64(terms)
		}
		x := math.Expm1(-decay*float64(terms)) / math.Expm1(-decay)
		return complex(x, 0), x
	}
	angle := 2 * math.Pi * float64(j) / float64(s.size)
	sin, half := math.Sin(angle), math.Sin(angle/2)
	// cos(angle) is 1 − 2·half²; neither part is a difference of numbers that are nearly equal.
	fall := math.Expm1(-decay)
	one := complex(fall-(1+fall)*2*half*half, (1+fall)*sin)
	all := s.turn(j, terms)*complex(math.Exp(-decay*float64(terms)), 0) - 1
	sum = all / one
	return sum, 2 / cmplx.Abs(one)
}
