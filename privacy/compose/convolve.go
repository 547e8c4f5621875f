package compose

import (
	"context"
	"math"
	"math/bits"
	"math/cmplx"

	"github.com/hushgrad/hushgrad/fl"
	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	// maxWindow limits the length of the Fourier transforms.
	maxWindow = 1 << 23

	// tailOutside is what is aimed at for the probability outside the window.
	tailOutside = 1e-16
)

// A window is the law of a sum of losses under an exponential tilt theta, in which a loss
// has its mass times e^{theta·loss − value}, on a range of grid points. The range covers all
// but outside of the probability, and what is outside is folded into it.
type window struct {
	sums
	theta, value float64
	first        int       // grid point of mass[0]
	mass         []float64 // at least 0
	outside      float64
	roundoff     float64 // bounds Σ |error| of mass, apart from the relative error
	relative     float64 // bounds the relative error of the tilted terms
}

// convolve computes a window around center, in losses.
//
// The transform of each tilted law is raised to its count and the product transformed
// back. With e = 8·log2(N)·ulp, which is twice what the butterflies of a transform of
// length N can do to a law of total mass 1, every coefficient z of a law has an error below
// e; the product is then off by at most Σ count·e·Π(|z|+e)^count/(|z|+e) at that frequency,
// and by Parseval the sum of all |errors| of the result is at most the Euclidean norm of
// that, plus e times the norm of the product for the transform back. Cost: O(N log N).
func (s sums) convolve(ctx context.Context, theta, center float64) (*window, error) {
	value, _, variance := s.cumulant(theta)
	w := &window{sums: s, theta: theta, value: value}
	middle := int(math.Round(center / s.step))
	radius := int(8.5*math.Sqrt(variance)/s.step) + 2
	for {
		// Nothing is outside a window that holds all possible sums.
		if reach := s.largest(); middle-radius <= -reach && middle+radius > reach {
			w.outside = 0
			break
		}
		lo, hi := float64(middle-radius)*s.step, float64(middle+radius)*s.step
		if w.outside = s.outside(theta, lo, hi); w.outside <= tailOutside {
			break
		}
		if 2*radius > maxWindow {
			return nil, fl.Invalid("step", s.step, "must be larger: the sum of %d losses needs more than %d grid points", s.total, maxWindow)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		radius += radius/4 + 1
	}
	n := max(16, 1<<bits.Len(uint(2*radius)))
	w.first = middle - n/2

	fft := fourier.NewFFT(n)
	e := 8 * float64(bits.Len(uint(n))) * ulp
	product := make([]complex128, n/2+1)
	bound := make([]float64, n/2+1)  // log Π (|z|+e)^count
	factor := make([]float64, n/2+1) // Σ count·e/(|z|+e)
	for i := range product {
		product[i] = 1
	}
	tilted, z := make([]float64, n), make([]complex128, n/2+1)
	for _, t := range s.terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(tilted)
		own, _, _ := sums{terms: []term{{t.law, 1}}, step: s.step}.cumulant(theta)
		k := len(t.law.mass) / 2
		for i, mass := range t.law.mass {
			if mass > 0 {
				tilted[(i-k)&(n-1)] += mass * math.Exp(theta*float64(i-k)*s.step-own)
			}
		}
		fft.Coefficients(z, tilted)
		count := float64(t.count)
		for i, c := range z {
			size := cmplx.Abs(c) + e
			bound[i] += count * math.Log(size)
			factor[i] += count * e / size
			product[i] *= cmplx.Pow(c, complex(count, 0))
		}
		// Rounding of weights and exponents, and of value, per mechanism.
		w.relative += count * ulp * (16 + 4*(theta*float64(k)*s.step+math.Abs(own)))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var off, norm float64
	for i := range product {
		p := math.Exp(bound[i])
		off, norm = off+2*p*p*factor[i]*factor[i], norm+2*p*p
	}
	w.roundoff = math.Sqrt(off) + e*math.Sqrt(norm)

	folded := fft.Sequence(tilted, product)
	w.mass = make([]float64, n)
	for i := range w.mass {
		w.mass[i] = math.Max(0, folded[(w.first+i)&(n-1)]/float64(n))
	}
	w.relative += float64(n) * ulp // summation
	return w, nil
}

// divergence returns bounds on Σ (1 − e^{epsilon − loss})_+·mass over the finite losses.
// Whatever the tilted masses are off by counts at most e^{value − theta·epsilon} times
// itself, because it is only losses above epsilon that count.
//
// For a window far above epsilon what is below the window belongs to outside.
func (w *window) divergence(epsilon float64) (lo, hi float64) {
	start := max(0, int(math.Floor(epsilon/w.step))-w.first)
	sum := 0.0
	for i := start; i < len(w.mass); i++ {
		excess := float64(w.first+i)*w.step - epsilon
		if excess > 0 && w.mass[i] > 0 {
			sum += w.mass[i] * math.Exp(-w.theta*excess) * -math.Expm1(-excess)
		}
	}
	scale := math.Exp(w.value - w.theta*epsilon)
	slack := 1 + w.relative + 16*ulp*(1+math.Abs(w.value)+w.theta*math.Abs(epsilon))
	off := w.outside + w.roundoff
	return math.Max(0, (sum/slack-off)*scale), (sum + off) * slack * scale
}
