package gkmps

import (
	"errors"
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
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
