package hdsum

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum/bbgn"
	"github.com/hushgrad/hushgrad/hdsum/gkmps"
	"github.com/hushgrad/hushgrad/internal/sample"
)

// Base names the protocol behind one BaseSum.
type Base uint8

const (
	// Auto is the protocol with the fewest expected bits per client, messages
	// sent one by one. It depends on public quantities only.
	Auto Base = iota
	// GKMPS spreads correlated noise atoms, see package gkmps. For large bounds it
	// rounds the inputs when that is cheaper.
	GKMPS
	// BBGN splits every input into uniform shares, see package bbgn.
	BBGN
)

var baseNames = [...]string{Auto: "auto", GKMPS: "gkmps", BBGN: "bbgn"}

func (b Base) String() string {
	if int(b) < len(baseNames) {
		return baseNames[b]
	}
	return fmt.Sprintf("Base(%d)", uint8(b))
}

// ParseBase returns the Base with a name.
func ParseBase(name string) (Base, error) {
	for b, n := range baseNames {
		if n == name {
			return Base(b), nil
		}
	}
	return 0, fl.Invalid("base", name, "must be one of auto, gkmps, bbgn")
}

// Config describes one BaseSum.
type Config struct {
	// Clients is the exact number of clients, at least 1: the noise is spread over
	// that many.
	Clients int
	// Capacity is the largest number of reports that can be decoded, at least
	// Clients; 0 means Clients. More than Clients reports only add noise.
	Capacity int
	// Bound is U ≥ 1: inputs are in {0, …, U}.
	Bound int64
	// Epsilon and Delta are the budget of the sum, both positive.
	Epsilon, Delta float64
	// Relation says whom Epsilon and Delta call neighbours.
	Relation fl.Relation
	// Base is the protocol, Auto by default.
	Base Base
	// Calibration chooses the constants of GKMPS, gkmps.Certified by default.
	Calibration gkmps.Calibration
}

// base is the protocol of one instance: parameters only, without a number.
type base struct {
	bound int64           // U
	gkmps *gkmps.Protocol // one of the two is nil
	bbgn  *bbgn.Protocol
}

// newBase returns the protocol that c describes. O(U) for GKMPS, where U is at
// most about √(10·Clients) after rounding.
func newBase(c Config) (*base, error) {
	var candidates []*base
	if c.Base == Auto || c.Base == BBGN {
		p, err := bbgn.New(bbgn.Config{Clients: c.Clients, Capacity: c.Capacity, Bound: c.Bound, Epsilon: c.Epsilon, Delta: c.Delta})
		if err != nil {
			return nil, fmt.Errorf("hdsum: %w", err)
		}
		candidates = append(candidates, &base{bound: c.Bound, bbgn: p})
	}
	if c.Base == Auto || c.Base == GKMPS {
		found, err := gkmpsCandidates(c)
		tooLarge := errors.Is(err, gkmps.ErrLimit) && c.Base == Auto // far dearer than BBGN there
		if err != nil && !tooLarge {
			return nil, fmt.Errorf("hdsum: %w", err)
		}
		candidates = append(candidates, found...)
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("hdsum: %w", fl.Invalid("base", c.Base, "must be auto, gkmps or bbgn"))
	}
	best := candidates[0]
	for _, s := range candidates[1:] {
		if s.cost().Bits < best.cost().Bits {
			best = s
		}
	}
	return best, nil
}

// unroundedLimit is the largest bound for which GKMPS without rounding is tried:
// its cost per client grows with U·log² U.
const unroundedLimit = 1 << 12

// gkmpsCandidates returns GKMPS with rounding and, for small bounds on which that
// makes a difference, without.
func gkmpsCandidates(c Config) ([]*base, error) {
	g := gkmps.Config{
		Clients: c.Clients, Bound: c.Bound, Epsilon: c.Epsilon, Delta: c.Delta,
		Relation: c.Relation, Calibration: c.Calibration, Rounding: true,
	}
	p, err := gkmps.New(g)
	if err != nil {
		return nil, err
	}
	found := []*base{{bound: c.Bound, gkmps: p}}
	if p.Width() > 1 && c.Bound <= unroundedLimit {
		g.Rounding = false
		if p, err = gkmps.New(g); err != nil {
			return nil, err
		}
		found = append(found, &base{bound: c.Bound, gkmps: p})
	}
	return found, nil
}

// kind returns GKMPS or BBGN.
func (s *base) kind() Base {
	if s.bbgn != nil {
		return BBGN
	}
	return GKMPS
}

func (s *base) clients() int {
	if s.bbgn != nil {
		return s.bbgn.Clients()
	}
	return s.gkmps.Clients()
}

// width is the worth of one unit of the sum of messages, above 1 when GKMPS
// rounds its inputs.
func (s *base) width() int64 {
	if s.gkmps != nil {
		return s.gkmps.Width()
	}
	return 1
}

// noise is the law of the noise in the sum of the messages of exactly Clients
// clients, in units of width.
func (s *base) noise() sample.DiscreteLaplace {
	if s.bbgn != nil {
		return s.bbgn.Noise()
	}
	return s.gkmps.Noise()
}

// variance bounds the variance of the decoded sum around the true one: noise of
// exactly Clients clients, and rounding.
func (s *base) variance() float64 {
	if s.bbgn != nil {
		return s.bbgn.NoiseVariance()
	}
	return s.gkmps.NoiseVariance() + s.gkmps.RoundingVariance()
}

// round returns the integer that stands for an input in the sum of messages. An
// input outside {0, …, U} is an error.
func (s *base) round(x int64, rng *rand.Rand) (int64, error) {
	if s.gkmps != nil {
		return s.gkmps.Round(x, rng)
	}
	if x < 0 || x > s.bound {
		return 0, fl.Invalid("x", x, "must be in [0, %d]", s.bound)
	}
	return x, nil
}

// add adds up messages of the instance: modulo q with BBGN.
func (s *base) add(sum, messages int64) int64 {
	if s.bbgn != nil {
		return int64(s.bbgn.Add(uint64(sum), uint64(messages)))
	}
	return sum + messages
}

// decode turns the sum of all messages into the estimate.
func (s *base) decode(sum int64) float64 {
	if s.bbgn != nil {
		return float64(s.bbgn.Decode(uint64(sum)))
	}
	return float64(sum) * float64(s.width())
}
