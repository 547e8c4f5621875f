package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

// shortfall tabulates E[(y − R)_+] for R ~ Binomial(n, p) at the integers y from
// first on. Between integers the function is linear, so the table is exact on its
// range up to rounding. Values of R below first are left out (the caller
// accounts for them by its tilt) and values above the last entry are moved down to it,
// which can only raise the result.
type shortfall struct {
	start  int // number of messages of the other kinds that it was made for
	first  int
	values []float64 // values[i] = E[(first + i − R)_+; R >= first]
	base   float64   // first − n·p
	top    float64   // last − n·p
	spill  float64   // bound on E[(R − last)_+]
}

// fill computes the table for Binomial(n, p), q = 1 − p, on the range from the lower
// quantile of Binomial(n, tiltedP), or spare values further down, to the upper quantile of
// Binomial(n, p). Cost: O(√n).
func (s *shortfall) fill(n int, p, q, tiltedP, tiltedQ float64, spare int) {
	mean := float64(n) * p
	last := binomial.UpperQuantile(n, p, q, binomial.LogTail)
	s.first = max(0, min(binomial.LowerQuantile(n, tiltedP, tiltedQ, binomial.LogTail), last)-spare)
	s.base, s.top = float64(s.first)-mean, float64(last)-mean
	s.spill = 0
	if last < n {
		// E[(R−last)_+] = P[R > last] + E[(R−last−1)_+], and by Chernoff at last+1 the second
		// is at most e^{-λ(last+1)}·E[e^{λR}]/(eλ) <= binomial.TailMass/(eλ).
		k := float64(last + 1)
		lambda := math.Log(k*q) - math.Log((float64(n)-k)*p)
		s.spill = binomial.TailMass * (1 + 1/(math.E*lambda))
	}
	s.values = make([]float64, last-s.first+1)
	binomial.Row(s.values, s.first, n, p, q)
	value, mass := 0.0, 0.0
	for i, point := range s.values {
		s.values[i] = value
		mass += point
		value += mass
	}
}

// at returns E[(first + y − R)_+] for y > 0, extended with slope one past the last entry.
func (s *shortfall) at(y float64) float64 {
	end := len(s.values) - 1
	if y >= float64(end) {
		return s.values[end] + (y - float64(end))
	}
	i := int(y)
	left := s.values[i]
	return left + (y-float64(i))*(s.values[i+1]-left)
}
