package exact

import "math/rand/v2"

// Chooser takes every random decision of a randomizer. Rand draws them;
// Enumerate tries them all.
type Chooser interface {
	// Uniform returns each integer in [0, n) with probability 1/n, n ≥ 1.
	Uniform(n uint64) uint64
	// Weighted returns index i with probability weights[i]/Σ weights. The sum
	// must be positive and below 2^63.
	Weighted(weights []uint64) int
}

// Rand draws choices from a generator by rejection, without rounding.
type Rand struct{ *rand.Rand }

var _ Chooser = Rand{}

// Uniform implements Chooser.
func (r Rand) Uniform(n uint64) uint64 { return r.Uint64N(n) }

// Weighted implements Chooser.
func (r Rand) Weighted(weights []uint64) int {
	return pick(weights, r.Uint64N(total(weights)))
}

// pick returns the index whose interval of the cumulated weights holds u.
func pick(weights []uint64, u uint64) int {
	for i, w := range weights {
		if u < w {
			return i
		}
		u -= w
	}
	return len(weights) - 1
}

func total(weights []uint64) (sum uint64) {
	for _, w := range weights {
		sum += w
	}
	return sum
}
