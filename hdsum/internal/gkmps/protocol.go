package gkmps

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// Protocol is one instance. It is immutable and safe for concurrent use.
type Protocol struct {
	config Config
	width  int64 // B
	bound  int64 // U' = ⌈U/B⌉
	noise  sample.DiscreteLaplace
	floods []Flood
}

// Flood is one kind of noise: a multiset of messages and how many copies of it
// are sent.
type Flood struct {
	// Messages is what one copy adds: {+1}, {−1} or an atom. It may hold a value
	// twice.
	Messages []int64
	// Total is the law of the number of copies over all clients. One of n
	// clients draws from Total.Share(n).
	Total sample.NegativeBinomial
}

// ErrLimit is wrapped by New's error for instances that are private but larger than
// what can be listed or counted here.
var ErrLimit = errors.New("too large an instance")

// New calibrates an instance. O(U' log U') time and O(U') memory, U' the bound
// after rounding. The error is a *fl.ParamError.
func New(c Config) (*Protocol, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("gkmps: %w", err)
	}
	p := &Protocol{config: c, width: 1}
	if c.Rounding {
		p.width = widthFor(c.Clients, c.Bound, c.Epsilon)
	}
	p.bound = (c.Bound-1)/p.width + 1
	if p.bound > MaxAtomBound {
		return nil, fmt.Errorf("gkmps: %w: %w", ErrLimit, fl.Invalid("bound", c.Bound,
			"must be at most %d after rounding to multiples of %d", MaxAtomBound, p.width))
	}
	if c.Epsilon < MinEpsilonPerUnit*float64(p.bound) {
		return nil, fmt.Errorf("gkmps: %w: %w", ErrLimit, fl.Invalid("epsilon", c.Epsilon,
			"must be at least %g times the bound after rounding, %d", MinEpsilonPerUnit, p.bound))
	}
	s := newSpending(c.Epsilon, c.Delta)
	p.noise = sample.DiscreteLaplace{Eta: s.central / float64(p.bound)}
	central := sample.NegativeBinomial{R: 1, Eta: p.noise.Eta}
	p.floods = []Flood{
		{Messages: []int64{1}, Total: central},
		{Messages: []int64{-1}, Total: central},
	}
	if c.Calibration == Tight {
		p.floods = append(p.floods, tightFloods(c.Relation, p.bound, s)...)
	} else {
		p.floods = append(p.floods, publishedFloods(c, p.bound, s)...)
	}
	return p, nil
}

// Clients returns n.
func (p *Protocol) Clients() int { return p.config.Clients }

// Bound returns U': the rounded inputs and the absolute values of all messages
// are at most U'.
func (p *Protocol) Bound() int64 { return p.bound }

// Floods returns the noise, the same for every client: the two central floods
// first, then {+1, −1} once for the sum, then the atoms. The slice is
// shared and must not be modified.
func (p *Protocol) Floods() []Flood { return p.floods }

// Noise returns the law of what the noise of all n clients adds to the sum of
// the messages.
func (p *Protocol) Noise() sample.DiscreteLaplace { return p.noise }

// NoiseVariance returns the variance of the noise in Width times the sum of the
// messages, in squared units of the input: B²·2q/(1−q)², q = e^{−ε*/U'}.
func (p *Protocol) NoiseVariance() float64 {
	b := float64(p.width)
	return b * b * p.noise.Variance()
}

// ExpectedMessages returns the mean number of noise messages of one client. Its
// input is one message more if it is rounded to anything but 0. O(U').
func (p *Protocol) ExpectedMessages() float64 {
	var sum float64
	for _, f := range p.floods {
		sum += float64(len(f.Messages)) * f.Total.Mean()
	}
	return sum / float64(p.config.Clients)
}

// MessageBits returns ⌈log2 U'⌉+1, the bits of one message: its absolute value
// less one, and its sign.
func (p *Protocol) MessageBits() int { return int(ceilLog2(p.bound)) + 1 }

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
