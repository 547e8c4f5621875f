package privacy

import (
	"context"
	"math"
)

// A term is one mechanism of a composition: count independent losses with a common law.
type term struct {
	law   masses
	count int
}

// sums is the law of the sum of all losses of a composition, on the grid of a step.
type sums struct {
	terms []term
	step  float64
	total int // number of mechanisms
}

// infinite returns the probability that some loss is +∞, rounded up.
func (s sums) infinite() float64 {
	log := 0.0
	for _, t := range s.terms {
		log += float64(t.count) * math.Log1p(-t.law.infinite)
	}
	return -math.Expm1(log) * (1 + 8*ulp*float64(len(s.terms)+2))
}

// shift bounds how far the sum may be off because losses near the grid count as on it.
func (s sums) shift() float64 { return float64(s.total) * onGrid * s.step }

// largest returns the largest finite sum of losses, in steps.
func (s sums) largest() int {
	largest := 0
	for _, t := range s.terms {
		largest += t.count * (len(t.law.mass) / 2)
	}
	return largest
}

// cumulant returns K(theta) = log Σ e^{theta·loss}·mass over the finite losses, and its
// first and second derivative. Cost: O(grid).
func (s sums) cumulant(theta float64) (value, mean, variance float64) {
	for _, t := range s.terms {
		k := len(t.law.mass) / 2
		reference := theta * float64(k) * s.step
		if theta < 0 {
			reference = -reference
		}
		var m0, m1, m2 float64
		for i, mass := range t.law.mass {
			if mass == 0 {
				continue
			}
			loss := float64(i-k) * s.step
			w := mass * math.Exp(theta*loss-reference)
			m0, m1, m2 = m0+w, m1+w*loss, m2+w*loss*loss
		}
		n := float64(t.count)
		value += n * (math.Log(m0) + reference)
		mean += n * m1 / m0
		variance += n * math.Max(0, m2/m0-(m1/m0)*(m1/m0))
	}
	return value, mean, variance
}

// maxTilt limits the exponential weights to a range that float64 can hold.
func (s sums) maxTilt() float64 {
	widest := 1
	for _, t := range s.terms {
		widest = max(widest, len(t.law.mass)/2)
	}
	return 300 / (float64(widest) * s.step)
}

// tilt returns the smallest theta >= 0, up to a small relative error, at which low is
// false; low must be true below some point and false above. If it is nowhere false the
// result is the largest tilt.
func (s sums) tilt(ctx context.Context, low func(value, mean, theta float64) bool) (float64, error) {
	isLow := func(theta float64) bool {
		value, mean, _ := s.cumulant(theta)
		return low(value, mean, theta)
	}
	if !isLow(0) {
		return 0, ctx.Err()
	}
	lo, hi := 0.0, math.Min(1, s.maxTilt())
	for isLow(hi) {
		if err := ctx.Err(); err != nil || hi == s.maxTilt() {
			return hi, err
		}
		lo, hi = hi, math.Min(2*hi, s.maxTilt())
	}
	for hi-lo > 1e-3*hi {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if mid := lo + (hi-lo)/2; isLow(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, nil
}

// outside bounds the probability under tilt theta that the sum is below lo or above hi
// (Chernoff, at three points for each side).
func (s sums) outside(theta, lo, hi float64) float64 {
	value, mean, variance := s.cumulant(theta)
	if variance == 0 {
		return 0
	}
	side := func(border float64) float64 {
		best := 0.0
		for _, factor := range []float64{1, 0.6, 0.3} {
			t := factor * (border - mean) / variance
			t = math.Max(-s.maxTilt(), math.Min(t, s.maxTilt()))
			moved, _, _ := s.cumulant(theta + t)
			best = math.Min(best, moved-value-t*border)
		}
		return math.Exp(best)
	}
	return side(lo) + side(hi)
}
