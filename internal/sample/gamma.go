package sample

import (
	"math"
	"math/rand/v2"
)

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
