package privunitg

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// split is how the budget is used: a report is on the direction's side of the threshold with
// probability p.
type split struct {
	z     float64 // threshold, in standard deviations
	q     float64 // P[U < z]
	upper float64 // P[U ≥ z] = 1 − q
	above uint64  // p = above/2^62
	p     float64
}

// MinEpsilon is the least ε: below it the rounding of p would take a part of the budget.
const MinEpsilon = 1e-6

// certain is the denominator of p.
const certain = 1 << 62

// newSplit chooses p and q with p/(1−p)·q/(1−q) ≤ e^ε for the least error in dim
// dimensions: with the condition an equality, as in section 4 of the paper, over the
// threshold. There is one minimum, in [0, 7] for every ε ≤ 20.
func newSplit(epsilon float64, dim int) split {
	lo, hi := 0., 7.
	for hi-lo > 1e-7 { // the error is flat there: nothing is lost
		left, right := lo+(hi-lo)/3, hi-(hi-lo)/3
		if splitAt(epsilon, left).error(dim) > splitAt(epsilon, right).error(dim) {
			lo = left
		} else {
			hi = right
		}
	}
	return splitAt(epsilon, lo)
}

// splitAt rounds p down by 2^−40 of its odds, which is more than the errors of erfc, exp and
// the divisions together, each below 2^−48.
func splitAt(epsilon, z float64) split {
	s := split{z: z, upper: math.Erfc(z/math.Sqrt2) / 2}
	s.q = 1 - s.upper // at least 1/2
	odds := math.Exp(epsilon) * s.upper / s.q * (1 - 0x1p-40)
	s.above = certain - uint64(math.Ceil(certain/(1+odds)))
	s.p = float64(s.above) / certain
	return s
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// slope is φ(z)·(p/(1−q) − (1−p)/q): the mean of the report along the direction, in
// standard deviations.
func (s split) slope() float64 {
	return normalDensity(s.z) * (s.p/s.upper - float64(certain-s.above)/certain/s.q)
}

// error is E‖R − u‖² for a unit vector u of dim dimensions.
func (s split) error(dim int) float64 {
	m := s.slope()
	return (float64(dim)+s.z*m)/(m*m) - 1
}

// Error returns the expected squared error of one report, E‖R − u‖² in squared units of
// Scale: of the whole lifted vector u, which has dim+1 coordinates. A gradient's error is less by
// the last coordinate's part, about one part in dim+1. epsilon is in [MinEpsilon, 20] and
// dim in [1, fl.MaxDim]; the error otherwise is a *fl.ParamError (wrapped). O(1).
func Error(epsilon float64, dim int) (float64, error) {
	if !(epsilon >= MinEpsilon && epsilon <= fl.MaxEpsilon) {
		return 0, fmt.Errorf(Name+": %w", fl.Invalid("epsilon", epsilon, "must be in [%g, %d]", MinEpsilon, fl.MaxEpsilon))
	}
	if dim < 1 || dim > fl.MaxDim {
		return 0, fmt.Errorf(Name+": %w", fl.Invalid("dim", dim, "must be in [1, %d]", fl.MaxDim))
	}
	return newSplit(epsilon, dim+1).error(dim + 1), nil
}

// draw returns the report's length along the direction, in standard deviations: at least
// z with probability p, by integer arithmetic, and normal on either side.
func (s split) draw(rng *rand.Rand) float64 {
	if rng.Uint64N(certain) < s.above {
		return upperNormal(s.z, rng)
	}
	for { // z ≥ 0: at least every other time
		if x := rng.NormFloat64(); x < s.z {
			return x
		}
	}
}

// upperNormal returns a standard normal variable that is at least z ≥ 0: by rejection from an
// exponential law, Robert, Simulation of Truncated Normal Variables, Statistics and
// Computing 5, 1995. Fewer than 1.4 trials.
func upperNormal(z float64, rng *rand.Rand) float64 {
	rate := (z + math.Sqrt(z*z+4)) / 2
	for {
		x := z + rng.ExpFloat64()/rate
		if rng.Float64() <= math.Exp(-(x-rate)*(x-rate)/2) {
			return x
		}
	}
}
