package sample

import (
	"math"
	"math/rand/v2"
)

const (
	// largeMean is where transformed rejection takes over from counting arrivals.
	// Its constants are good for means of at least 10.
	largeMean = 10

	// maxMean keeps results inside int64.
	maxMean = 0x1p62
)

// Poisson draws from the Poisson distribution of the given mean, in [0, 1e15].
// A mean that is not positive, or not a number, gives 0; above 2^62 it is taken
// as 2^62.
//
// Below 10 it counts the arrivals of a Poisson process in an interval of length
// mean, in O(mean). From 10 on it is algorithm PTRS of Hörmann, The Transformed
// Rejection Method for Generating Poisson Random Variables, Insurance:
// Mathematics and Economics 12, 1993, in O(1); the density is evaluated without
// cancellation, so that the law holds for large means too.
func Poisson(rng *rand.Rand, mean float64) int64 {
	if mean >= largeMean {
		return newPTRS(min(mean, maxMean)).draw(rng)
	}
	k := int64(0)
	for t := exponential(rng); t < mean; t += exponential(rng) {
		k++
	}
	return k
}

// margin is what the published hat is raised by, and what the probability of
// quick acceptance is lowered by relative to it. As published, the hat lies
// below the density by up to 0.6 % in places (mean 10, k = 16), and some values
// are quickly accepted up to 0.6 % too often (mean 31, k = 20).
const margin = 1.01

// ptrs holds the constants of the rejection: the proposal is mean + 0.43 +
// sign·(½−s)·(2a/s+b) for s in (0, ½), rounded down.
type ptrs struct{ mean, a, b, inverseAlpha, accept float64 }

func newPTRS(mean float64) ptrs {
	b := 0.931 + 2.53*math.Sqrt(mean)
	return ptrs{
		mean:         mean,
		a:            -0.059 + 0.02483*b,
		b:            b,
		inverseAlpha: (1.1239 + 1.1328/(b-3.4)) * margin,
		accept:       (0.9277 - 3.6224/(b-2)) / (margin * margin),
	}
}

func (p ptrs) draw(rng *rand.Rand) int64 {
	whole, part := math.Modf(p.mean)
	for {
		s := uniform(rng) / 2
		step := p.propose(s, rng.Uint64()&1 == 0, part)
		if step < -whole || step > maxMean {
			continue
		}
		v := uniform(rng)
		if s >= 0.07 && v <= p.accept {
			return int64(whole) + int64(step)
		}
		if s < 0.013 && v > s {
			continue
		}
		if math.Log(v) <= p.logAcceptance(s, whole+step, step-part) {
			return int64(whole) + int64(step)
		}
	}
}

// propose returns the proposal made from s, counted from the whole part of the
// mean, which may have no room for the digits of the rest.
func (p ptrs) propose(s float64, below bool, part float64) float64 {
	offset := (0.5 - s) * (2*p.a/s + p.b)
	if below {
		offset = -offset
	}
	return math.Floor(offset + part + 0.43)
}

// logAcceptance returns the logarithm of the probability that a proposal k =
// mean + d made from s is accepted.
func (p ptrs) logAcceptance(s, k, d float64) float64 {
	return math.Log((p.a/(s*s)+p.b)/p.inverseAlpha) + logPoisson(k, p.mean, d)
}

// logPoisson returns the logarithm of the Poisson probability of k = mean + d.
func logPoisson(k, mean, d float64) float64 {
	if k == 0 {
		return -mean
	}
	return -deviance(k, mean, d) - stirlingError(k) - 0.5*math.Log(2*math.Pi*k)
}
