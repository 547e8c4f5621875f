package privacy

import "math"

// solveTolerance is the relative width of the final bracket of root.
const solveTolerance = 1e-10

// root returns the smallest ε_c at which the bound is at most delta, rounded up by at most
// solveTolerance of itself. It is in [0, ε].
func (b *bound) root(n int, delta float64) float64 {
	excess := func(epsilon float64) float64 { // log of the ratio, with the exact sign of the difference
		return math.Log1p((b.delta(n, epsilon, tableBudget) - delta) / delta)
	}
	atZero := excess(0)
	if atZero <= 0 {
		return 0
	}
	hi := b.chernoffEpsilon(n, delta)
	return solve(excess, 0, hi, atZero, excess(hi))
}

// chernoffEpsilon returns an ε_c in (0, ε] whose Chernoff bound is at most delta. It
// is a little above the answer and costs microseconds.
func (b *bound) chernoffEpsilon(n int, delta float64) float64 {
	lo, hi := 0.0, b.epsilon
	for range 50 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if b.tilt(b.losses(mid), n).chernoff*b.unit(n) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// solve narrows a bracket with f(lo) > 0 >= f(hi) to a relative width of
// solveTolerance and returns its upper end, where f has been seen to be <= 0. It is
// regula falsi with the Illinois weights, kept half a tolerance away from both
// ends so that both close in; every fourth step bisects if the bracket has not been
// halved once per four steps so far, so that it ends for every f. f may be infinite.
func solve(f func(float64) float64, lo, hi, atLo, atHi float64) float64 {
	mark, side := hi-lo, 0
	for step := 1; hi-lo > solveTolerance*hi; step++ {
		x := lo + (hi-lo)*(atLo/(atLo-atHi))
		if math.IsInf(atLo, 1) || math.IsInf(atHi, -1) {
			x = lo + (hi-lo)/2
		}
		if step%4 == 0 {
			mark /= 2
			if hi-lo > mark {
				x = lo + (hi-lo)/2
			}
		}
		margin := 0.5 * solveTolerance * hi
		x = math.Max(lo+margin, math.Min(x, hi-margin))
		if x <= lo || x >= hi {
			break // no floating-point number in between
		}
		if value := f(x); value > 0 {
			lo, atLo = x, value
			if side > 0 {
				atHi /= 2
			}
			side = 1
		} else {
			hi, atHi = x, value
			if side < 0 {
				atLo /= 2
			}
			side = -1
		}
	}
	return hi
}
