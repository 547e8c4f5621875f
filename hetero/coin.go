package hetero

import (
	"math"
	"math/rand/v2"
)

// coin is true with probability coin/2^64, exactly.
type coin uint64

// coinMargin is above the relative error of computed probabilities: that of e^−x
// is x·2^−53 for a rounded x, and at x = 745 nothing is left.
const coinMargin = 0x1p-40

// coinAbove and coinBelow return coins whose probability is close to p < 1 and on
// the named side of the number that p approximates.
func coinAbove(p float64) coin { return coin(p*(1+coinMargin)*0x1p64) + 1 }
func coinBelow(p float64) coin { return coin(p * (1 - coinMargin) * 0x1p64) }

func (c coin) flip(rng *rand.Rand) bool { return rng.Uint64() < uint64(c) }

// probability is rounded to the nearest float64.
func (c coin) probability() float64 { return math.Ldexp(float64(c), -64) }
