package privunit

import (
	"math"
	"math/rand/v2"
)

// draw returns the report's length along the direction, in standard deviations: at least
// z with probability p, by integer arithmetic, and normal on either side.
func (s split) draw(rng *rand.Rand) float64 {
	if rng.Uint64N(certain) < s.above {
		return upper(s.z, rng)
	}
	for { // z ≥ 0: at least every other time
		if x := rng.NormFloat64(); x < s.z {
			return x
		}
	}
}

// upper returns a standard normal variable that is at least z ≥ 0: by rejection from an
// exponential law, Robert, Simulation of Truncated Normal Variables, Statistics and
// Computing 5, 1995. Fewer than 1.4 trials.
func upper(z float64, rng *rand.Rand) float64 {
	rate := (z + math.Sqrt(z*z+4)) / 2
	for {
		x := z + rng.ExpFloat64()/rate
		if rng.Float64() <= math.Exp(-(x-rate)*(x-rate)/2) {
			return x
		}
	}
}
