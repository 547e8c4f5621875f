package gkmps

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/exact"
)

// widthFor returns the width B to which n clients round inputs in {0..U}:
// ⌈U/R⌉ with R = √(n/ζ), ζ = min(0.1, 0.1/ε). The variance of the rounding is then
// at most nB²/4, about ζU²/4, small against the 2U²/ε² of the noise.
func widthFor(clients int, bound int64, eps float64) int64 {
	zeta := min(0.1, 0.1/eps)
	return int64(math.Ceil(float64(bound) / math.Sqrt(float64(clients)/zeta)))
}

// Round returns x/Width, rounded at random so that Width·Round(x) has the mean
// x. The result is in {0..Bound}, 0 for x = 0, and the probabilities are
// exact. It draws nothing when Width divides x. An x outside {0..U}, U the
// Bound of the Config, is an error.
func (p *Protocol) Round(x int64, rng *rand.Rand) (int64, error) {
	if x < 0 || x > p.config.Bound {
		return 0, fmt.Errorf("gkmps: %w", fl.Invalid("x", x, "must be from 0 to %d", p.config.Bound))
	}
	return round(x, p.width, exact.Rand{Rand: rng}), nil
}

// round returns ⌊x/width⌋, or with probability (x mod width)/width one more. The
// paper's Algorithm 1 has the two probabilities swapped.
func round(x, width int64, choose exact.Chooser) int64 {
	down, rest := x/width, x%width
	if rest > 0 && choose.Uniform(uint64(width)) < uint64(rest) {
		down++
	}
	return down
}

// Width returns B: a message of value v stands for v·B units of the input.
func (p *Protocol) Width() int64 { return p.width }

// RoundingVariance returns an upper bound on the variance that rounding adds to
// the sum of all clients' inputs, in squared units of the input: nB²/4, and 0
// when nothing is rounded.
func (p *Protocol) RoundingVariance() float64 {
	if p.width == 1 {
		return 0
	}
	b := float64(p.width)
	return float64(p.config.Clients) * b * b / 4
}
