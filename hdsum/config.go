package hdsum

import (
	"errors"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/internal/bbgn"
	"github.com/hushgrad/hushgrad/hdsum/internal/gkmps"
)

// Config is what all sums have in common: how many clients there are, what is promised
// to them, and what the sum is made of.
type Config struct {
	// Clients is the exact number of clients, at least 1: the noise is spread over
	// that many.
	Clients int
	// Capacity is the largest number of reports that can be decoded, at least
	// Clients; 0 means Clients. More than Clients reports only add noise.
	Capacity int
	// Epsilon and Delta are the budget of everything that one client sends, both
	// positive.
	Epsilon, Delta float64
	// Relation says which inputs Epsilon and Delta call neighbours.
	Relation fl.Relation
	// Base is the protocol of every instance, Auto by default.
	Base Protocol
	// Calibration chooses the constants of GKMPS, CalibrationCertified by default.
	Calibration Calibration
}

func (c Config) budget() budget { return budget{c.Epsilon, c.Delta} }

// with returns c with another budget.
func (c Config) with(b budget) Config {
	c.Epsilon, c.Delta = b.epsilon, b.delta
	return c
}

// check checks what the instances would report under other names.
func (c Config) check(bound int64, beta float64) error {
	switch {
	case bound < 1:
		return fl.Invalid("bound", bound, "must be at least 1")
	case !(beta > 0 && beta < 1):
		return fl.Invalid("beta", beta, "must be in (0, 1)")
	case !(c.Epsilon > 0 && c.Epsilon <= fl.MaxEpsilon):
		return fl.Invalid("epsilon", c.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	case !(c.Delta > 0 && c.Delta < 1):
		return fl.Invalid("delta", c.Delta, "must be in (0, 1)")
	case c.Relation != fl.ReplaceOne && c.Relation != fl.ZeroOut:
		return fl.Invalid("relation", c.Relation, "must be %s or %s", fl.ReplaceOne, fl.ZeroOut)
	}
	return nil
}

// newNoisySum returns a sum of inputs in {0, …, bound} by c.Base, with all of c's budget.
// O(bound) for GKMPS, where bound is at most about √(10·Clients) after rounding.
func newNoisySum(c Config, bound int64) (noisySum, error) {
	var candidates []noisySum
	if c.Base == Auto || c.Base == BBGN {
		p, err := bbgn.New(bbgn.Config{Clients: c.Clients, Capacity: c.Capacity, Bound: bound, Epsilon: c.Epsilon, Delta: c.Delta})
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, bbgnSum{p, bound})
	}
	if c.Base == Auto || c.Base == GKMPS {
		found, err := gkmpsSums(c, bound)
		tooLarge := errors.Is(err, gkmps.ErrLimit) && c.Base == Auto // far dearer than BBGN there
		if err != nil && !tooLarge {
			return nil, err
		}
		candidates = append(candidates, found...)
	}
	if len(candidates) == 0 {
		return nil, fl.Invalid("base", c.Base, "must be auto, gkmps or bbgn")
	}
	best := candidates[0]
	for _, s := range candidates[1:] {
		if s.bits() < best.bits() {
			best = s
		}
	}
	return best, nil
}

// unroundedLimit is the largest bound for which GKMPS without rounding is tried:
// its cost per client grows with U·log² U.
const unroundedLimit = 1 << 12

// gkmpsSums returns GKMPS with rounding and, for small bounds on which that makes a
// difference, without.
func gkmpsSums(c Config, bound int64) ([]noisySum, error) {
	g := gkmps.Config{
		Clients: c.Clients, Bound: bound, Epsilon: c.Epsilon, Delta: c.Delta,
		Relation: c.Relation, Calibration: gkmps.Calibration(c.Calibration), Rounding: true,
	}
	p, err := gkmps.New(g)
	if err != nil {
		return nil, err
	}
	found := []noisySum{gkmpsSum{p}}
	if p.Width() > 1 && bound <= unroundedLimit {
		g.Rounding = false
		if p, err = gkmps.New(g); err != nil {
			return nil, err
		}
		found = append(found, gkmpsSum{p})
	}
	return found, nil
}
