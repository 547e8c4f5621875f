package privacy

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/root"
)

// root returns the smallest ε_c at which the bound is at most delta, rounded up by at most
// root.Tolerance of itself. It is in [0, ε].
func (b *bound) root(n int, delta float64) float64 {
	excess := func(epsilon float64) float64 { // log of the ratio, with the exact sign of the difference
		return math.Log1p((b.delta(n, epsilon, tableBudget) - delta) / delta)
	}
	atZero := excess(0)
	if atZero <= 0 {
		return 0
	}
	hi := b.chernoffEpsilon(n, delta)
	return root.Solve(excess, 0, hi, atZero, excess(hi))
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
