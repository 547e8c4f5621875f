package sample

import (
	"math"
	"math/rand/v2"
)

// MinEta is the smallest η that samplers draw with, 2^−50: their results stay
// far from the limits of int64.
const MinEta = 0x1p-50

// atLeastMinEta also catches NaN.
func atLeastMinEta(eta float64) float64 {
	if eta >= MinEta {
		return eta
	}
	return MinEta
}

// uniform returns a real uniform variable of (0, 1), rounded to the nearest
// float64: 53 significant bits however small it is. It is never 0 and is 1 with
// probability 2^−54.
func uniform(rng *rand.Rand) float64 {
	u := rng.Uint64()
	if u >= 1<<53 {
		return float64(u) * 0x1p-64
	}
	return (float64(u) + uniform(rng)) * 0x1p-64
}

// exponential returns a standard exponential variable, correct to a relative
// 2^−51 however small or large it is: −ln u has few digits where u is close to
// 1, so that half is drawn as −ln(1−v) with v in (0, 1/2).
func exponential(rng *rand.Rand) float64 {
	if u := uniform(rng); u < 0.5 {
		return -math.Log(u)
	}
	return -math.Log1p(-uniform(rng) / 2)
}

// normal returns a standard normal variable, by the polar method of Marsaglia
// and Bray, A Convenient Method for Generating Normal Variables, SIAM Review
// 6(3), 1964.
func normal(rng *rand.Rand) float64 {
	for {
		x, y := 2*uniform(rng)-1, 2*uniform(rng)-1
		if s := x*x + y*y; s > 0 && s < 1 {
			return x * math.Sqrt(-2*math.Log(s)/s)
		}
	}
}

// gamma draws from the Gamma distribution of shape a > 0 and scale 1 by the
// method of Marsaglia and Tsang, A Simple Method for Generating Gamma
// Variables, ACM Transactions on Mathematical Software 26(3), 2000. A shape
// below 1 is raised by 1 and the result multiplied by U^(1/a), as they do.
func gamma(rng *rand.Rand, a float64) float64 {
	if a < 1 {
		return gamma(rng, a+1) * math.Exp(-exponential(rng)/a)
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := normal(rng)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(uniform(rng)) < 0.5*x*x+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}
