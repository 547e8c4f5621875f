// Package root finds where a function of one variable changes its sign.
// Use it where a guarantee must be rounded against us: the answer is on a stated side.
// Start with [Solve].
package root

import "math"

// Tolerance is the relative width of the final bracket of Solve.
const Tolerance = 1e-10

// Solve narrows a bracket with f(lo) > 0 >= f(hi) to a relative width of
// Tolerance and returns its upper end, where f has been seen to be <= 0. atLo and atHi
// are f(lo) and f(hi). f may be infinite.
//
// It is regula falsi with the Illinois weights, kept half a tolerance away from both
// ends so that both close in. Every fourth step bisects if the bracket has not been
// halved once per four steps so far. So it ends for every f.
func Solve(f func(float64) float64, lo, hi, atLo, atHi float64) float64 {
	mark, side := hi-lo, 0
	for step := 1; hi-lo > Tolerance*hi; step++ {
		x := lo + (hi-lo)*(atLo/(atLo-atHi))
		if math.IsInf(atLo, 1) || math.IsInf(atHi, -1) || math.IsNaN(x) {
			x = lo + (hi-lo)/2
		}
		if step%4 == 0 {
			mark /= 2
			if hi-lo > mark {
				x = lo + (hi-lo)/2
			}
		}
		margin := 0.5 * Tolerance * hi
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
