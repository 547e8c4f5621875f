package privacy

import (
	"context"
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// maxWindow limits the length of the Fourier transforms.
	maxWindow = 1 << 23

	// tailOutside is what is aimed at for the probability outside the window.
	tailOutside = 1e-16
)

// A window is the law of a sum of losses under an exponential tilt theta, in which a loss
// has its mass times e^{theta·loss − value}, on a range of size grid points. The range covers all
// but outside of the probability, and what is outside is folded into it.
type window struct {
	sums
	theta, value float64
	first, size  int // the grid points from first to first + size − 1
	tail         tail
	outside      float64
	roundoff     float64 // bounds Σ |error| of the masses in tail, apart from the relative error
	relative     float64 // bounds the relative error of the tilted terms and of their sums
}

// A tail knows the masses m of a window. above returns
//
//	Σ_{i >= start} m_i·e^{−theta·x_i}·(1 − e^{−x_i}),   x_i = gap + (i − start)·step,
//
// for 0 <= start < size and gap > 0, and a bound on its error beyond the relative one of the
// window. Positions count from the start of the window.
type tail interface {
	above(start int, gap float64) (sum, off float64)
}

// convolve computes a window around center, in losses. The masses are those that a Fourier
// transform of length size gives, in one of two ways: see spectrum and pointwise.
// Cost: at most O(size·log(size)).
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
	w.size = max(16, 1<<bits.Len(uint(2*radius)))
	w.first = middle - w.size/2
	laws := s.tilted(theta)
	for _, l := range laws {
		// Rounding of weights and exponents, and of value, per mechanism.
		w.relative += l.count * ulp * (16 + 4*(theta*float64(l.reach())*s.step+math.Abs(l.value)))
	}
	few, err := w.spectrum(ctx, laws)
	if err != nil || few {
		return w, err
	}
	return w, w.pointwise(ctx, laws)
}

// A tilted law has the weights of one mechanism under an exponential tilt: weight[i] at the
// grid point i − reach, with sum 1.
type tilted struct {
	weight    []float64
	count     float64
	value     float64 // logarithm of what the weights were divided by
	deviation float64 // standard deviation, in steps
}

func (t tilted) reach() int { return len(t.weight) / 2 }

// tilted returns the tilted laws of the terms.
func (s sums) tilted(theta float64) []tilted {
	out := make([]tilted, len(s.terms))
	for i, t := range s.terms {
		value, _, variance := sums{terms: []term{{t.law, 1}}, step: s.step}.cumulant(theta)
		l := tilted{make([]float64, len(t.law.mass)), float64(t.count), value, math.Sqrt(variance) / s.step}
		for j, mass := range t.law.mass {
			if mass > 0 {
				l.weight[j] = mass * math.Exp(theta*float64(j-l.reach())*s.step-value)
			}
		}
		out[i] = l
	}
	return out
}

// divergence returns bounds on Σ (1 − e^{epsilon − loss})_+·mass over the finite losses.
// Whatever the tilted masses are off by counts at most e^{value − theta·epsilon} times
// itself, because it is only losses above epsilon that count.
//
// For a window far above epsilon what is below the window belongs to outside. Cost:
// tail.above's.
func (w *window) divergence(epsilon float64) (lo, hi float64) {
	start := max(0, int(math.Floor(epsilon/w.step))-w.first)
	gap := float64(w.first+start)*w.step - epsilon
	for ; gap <= 0; gap = float64(w.first+start)*w.step - epsilon {
		start++
	}
	sum, off := 0.0, w.outside+w.roundoff
	if start < w.size {
		above, more := w.tail.above(start, gap)
		sum, off = above, off+more
	}
	scale := math.Exp(w.value - w.theta*epsilon)
	slack := 1 + w.relative + 16*ulp*(1+math.Abs(w.value)+w.theta*math.Abs(epsilon))
	return math.Max(0, (sum/slack-off)*scale), (sum + off) * slack * scale
}
