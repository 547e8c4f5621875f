package features

import (
	"math"
	"math/cmplx"
)

// fft is the discrete Fourier transform of many vectors of one length at a time: the columns of a matrix. It is
// Stockham's: it needs no reordering, and its loops run along rows. gonum's transforms one vector in a call, and Scatter
// took four times as long with it.
type fft struct {
	passes []pass
}

// pass is a decimation in frequency by one factor of the length.
type pass struct {
	factor, rest int          // factor·rest is what is left of the length
	sign         float64      // −1 forward, +1 backward
	twiddles     []complex128 // exp(sign·2πi·j·r/(factor·rest)) at j·factor + r
	roots        []complex128 // exp(sign·2πi·r/factor) at r
}

// newFFT returns the transform of vectors of length n with the kernel exp(sign·2πi·j·k/n).
func newFFT(n int, sign float64) (f fft) {
	for rest := n; rest > 1; {
		factor := 4
		if rest%4 != 0 {
			for factor = 2; rest%factor != 0; {
				factor++
			}
		}
		root := func(k, n int) complex128 { return cmplx.Rect(1, sign*2*math.Pi*float64(k)/float64(n)) }
		p := pass{factor: factor, rest: rest / factor, sign: sign}
		for j := range p.rest {
			for r := range factor {
				p.twiddles = append(p.twiddles, root(j*r, rest))
			}
		}
		for r := range factor {
			p.roots = append(p.roots, root(r, factor))
		}
		f.passes = append(f.passes, p)
		rest = p.rest
	}
	return f
}

// columns transforms each column of a matrix, row after row in x. It returns the memory that has the result, and the other one.
func (f fft) columns(x, spare []complex128, cols int) (result, other []complex128) {
	for _, p := range f.passes {
		switch p.factor {
		case 4:
			p.four(spare, x, cols)
		case 2:
			p.two(spare, x, cols)
		default:
			p.any(spare, x, cols)
		}
		x, spare = spare, x
		cols *= p.factor
	}
	return x, spare
}

// four is any for the factor 4. cols is the number of columns times the factors of the passes before.
func (p pass) four(dst, src []complex128, cols int) {
	for j := range p.rest {
		from := func(r int) []complex128 { return src[(j+r*p.rest)*cols:][:cols] }
		to := func(r int) []complex128 { return dst[(4*j+r)*cols:][:cols] }
		a, b, c, d := from(0), from(1), from(2), from(3)
		w, x, y, z := to(0), to(1), to(2), to(3)
		t := p.twiddles[4*j:][:4]
		tx, ty, tz := t[1], t[2], t[3]
		if p.sign < 0 { // i is −i, which exchanges x and z
			x, z, tx, tz = z, x, tz, tx
		}
		if j == 0 { // the twiddles are 1
			for k, a := range a {
				b, c, d := b[k], c[k], d[k]
				even, odd, low, e := a+c, b+d, a-c, b-d
				turned := complex(-imag(e), real(e))
				w[k], x[k], y[k], z[k] = even+odd, low+turned, even-odd, low-turned
			}
			continue
		}
		for k, a := range a {
			b, c, d := b[k], c[k], d[k]
			even, odd, low, e := a+c, b+d, a-c, b-d
			turned := complex(-imag(e), real(e))
			w[k], x[k], y[k], z[k] = even+odd, (low+turned)*tx, (even-odd)*ty, (low-turned)*tz
		}
	}
}

// two is any for the factor 2.
func (p pass) two(dst, src []complex128, cols int) {
	for j := range p.rest {
		a, b := src[j*cols:][:cols], src[(j+p.rest)*cols:][:cols]
		w, x := dst[2*j*cols:][:cols], dst[(2*j+1)*cols:][:cols]
		for k, v := range a {
			w[k], x[k] = v+b[k], v-b[k]
		}
		if j == 0 {
			continue // the twiddles are 1
		}
		t := p.twiddles[2*j+1]
		for k := range x {
			x[k] *= t
		}
	}
}

// any transforms by the definition over the factor.
func (p pass) any(dst, src []complex128, cols int) {
	for j := range p.rest {
		for r := range p.factor {
			to := dst[(p.factor*j+r)*cols:][:cols]
			clear(to)
			for i := range p.factor {
				w := p.roots[i*r%p.factor] * p.twiddles[p.factor*j+r]
				for k, v := range src[(j+i*p.rest)*cols:][:cols] {
					to[k] += w * v
				}
			}
		}
	}
}
