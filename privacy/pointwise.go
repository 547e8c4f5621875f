package privacy

import (
	"context"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// marksEvery is the number of grid points between two sums that a points value keeps.
const marksEvery = 128

// A points value is a tail that was computed at every point of its window. Beside the masses it
// keeps, at every marksEvery-th position i,
//
//	less[i] = Σ_{l >= i} m_l·e^{−theta·x}·(1 − e^{−x}),  all[i] = Σ_{l >= i} m_l·e^{−(theta+1)·x},
//
// x = (l − i)·step. Both follow from those one step further up by sums of positive terms:
//
//	less[i] = e^{−theta·step}·(less[i+1] + (1 − e^{−step})·all[i+1]),
//	all[i]  = m_i + e^{−(theta+1)·step}·all[i+1].
type points struct {
	mass      []float64 // at least 0
	less, all []float64 // at positions i·marksEvery; the last are 0
	theta     float64
	// near, far and rise are e^{−theta·step}, e^{−(theta+1)·step} and 1 − e^{−step}.
	near, far, rise float64
}

// newPoints keeps the masses. Cost: O(len(mass)).
func newPoints(mass []float64, theta, step float64) *points {
	p := &points{mass: mass, theta: theta, near: math.Exp(-theta * step), far: math.Exp(-(theta + 1) * step), rise: -math.Expm1(-step)}
	marks := (len(mass)+marksEvery-1)/marksEvery + 1
	p.less, p.all = make([]float64, marks), make([]float64, marks)
	for i := marks - 2; i >= 0; i-- {
		p.less[i], p.all[i] = p.down(i*marksEvery, i+1)
	}
	return p
}

// down returns less and all at a position, from less and all at the mark above.
func (p *points) down(position, mark int) (less, all float64) {
	less, all = p.less[mark], p.all[mark]
	for i := min(mark*marksEvery, len(p.mass)) - 1; i >= position; i-- {
		less = p.near * (less + p.rise*all)
		all = p.mass[i] + p.far*all
	}
	return less, all
}

// above moves both sums by the gap, in the same way. Cost: O(marksEvery).
func (p *points) above(start int, gap float64) (sum, off float64) {
	less, all := p.down(start, start/marksEvery+1)
	return math.Exp(-p.theta*gap) * (less - math.Expm1(-gap)*all), 0
}

// pointwise computes the masses of the window by fast Fourier transform.
//
// The transform of each tilted law is raised to its count and the product transformed
// back. With e = 8·log2(N)·ulp, which is twice what the butterflies of a transform of
// length N can do to a law of total mass 1, every coefficient z of a law has an error below
// e; the product is then off by at most Σ count·e·Π(|z|+e)^count/(|z|+e) at that frequency,
// and by Parseval the sum of all |errors| of the result is at most the Euclidean norm of
// that, plus e times the norm of the product for the transform back. Cost: O(N log N).
func (w *window) pointwise(ctx context.Context, laws []tilted) error {
	n := w.size
	fft := fourier.NewFFT(n)
	e := 8 * float64(bits.Len(uint(n))) * ulp
	product := slices.Repeat([]complex128{1}, n/2+1)
	bound := make([]float64, n/2+1)  // log Π (|z|+e)^count
	factor := make([]float64, n/2+1) // Σ count·e/(|z|+e)
	folded, z := make([]float64, n), make([]complex128, n/2+1)
	for _, l := range laws {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(folded)
		for i, weight := range l.weight {
			folded[(i-l.reach())&(n-1)] += weight
		}
		fft.Coefficients(z, folded)
		for i, c := range z {
			size := cmplx.Abs(c) + e
			bound[i] += l.count * math.Log(size)
			factor[i] += l.count * e / size
			product[i] *= cmplx.Pow(c, complex(l.count, 0))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var off, norm float64
	for i := range product {
		p := math.Exp(bound[i])
		off, norm = off+2*p*p*factor[i]*factor[i], norm+2*p*p
	}
	w.roundoff = math.Sqrt(off) + e*math.Sqrt(norm)

	fft.Sequence(folded, product)
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = math.Max(0, folded[(w.first+i)&(n-1)]/float64(n))
	}
	w.tail = newPoints(mass, w.theta, w.step)
	w.relative += 8 * float64(n) * ulp // four roundings a step, and the factors' roundings
	return nil
}
