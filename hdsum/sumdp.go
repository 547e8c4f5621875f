package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// SumDP sums inputs in {0, …, U} with an error that follows the largest values
// that occur more than a few times, instead of U (the paper, Algorithm 3). It is
// immutable and safe for concurrent use.
//
// Each sub-domain of the inputs has an instance of its own. The analyzer finds the
// last sub-domain whose sum stands out of the noise and adds up the sums up to
// there: larger inputs are dropped, which the paper calls clipping. So the estimate
// is low by their sum, and its noise is that of inputs as large as the last
// sub-domain kept.
type SumDP struct {
	*layout
	domains domains
}

// NewSumDP returns the protocol that c describes, with ⌈log2 U⌉ + 1 instances.
// (Epsilon, Delta) is the budget of the whole protocol under c.Relation. beta in
// (0, 1) is the probability that noise alone makes a sub-domain count.
func NewSumDP(c Config, beta float64) (*SumDP, error) {
	if err := checkSum(c, beta); err != nil {
		return nil, fmt.Errorf("hdsum: SumDP: %w", err)
	}
	c = perInstance(c)
	s := &SumDP{domains: newDomains(c.Bound, c.Epsilon, beta)}
	var err error
	if s.layout, err = s.domains.layout(c, 1); err != nil {
		return nil, fmt.Errorf("hdsum: SumDP: %w", err)
	}
	return s, nil
}

// layout lists count instances for every sub-domain. c is the budget of each.
func (d domains) layout(c Config, count int) (*layout, error) {
	var groups []group
	for _, bound := range d.bounds {
		c.Bound = bound
		protocol, err := newBase(c)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{protocol: protocol, count: count})
	}
	return newLayout(groups...)
}

// checkSum checks what the instances would report under other names.
func checkSum(c Config, beta float64) error {
	switch {
	case c.Bound < 1:
		return fl.Invalid("bound", c.Bound, "must be at least 1")
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

// Part describes the instance of one sub-domain.
type Part struct {
	Bound int64 // largest value of the sub-domain
	Base  Base
	Cost  Cost
}

// Parts describes the instances in the order of their sub-domains.
func (s *SumDP) Parts() []Part {
	var parts []Part
	for j, g := range s.groups {
		parts = append(parts, Part{Bound: s.domains.bounds[j], Base: g.protocol.kind(), Cost: g.protocol.cost()})
	}
	return parts
}

// Encode returns the messages of a client with input x in {0, …, U}. Expected time
// O(entries · log entries).
func (s *SumDP) Encode(x int64, rng *rand.Rand) (Multiset, error) {
	j, err := s.domainOf(x)
	if err != nil {
		return nil, err
	}
	return s.encode(nil, single(j, x), rng)
}

// domainOf returns the sub-domain of an input, 0 for the input 0.
func (s *SumDP) domainOf(x int64) (int, error) {
	if top := s.domains.bounds[len(s.domains.bounds)-1]; x < 0 || x > top {
		return 0, fmt.Errorf("hdsum: SumDP: %w", fl.Invalid("x", x, "must be in [0, %d]", top))
	}
	if x == 0 {
		return 0, nil
	}
	return domainOf(x), nil
}

// SumEstimate is the outcome of a SumDP.
type SumEstimate struct {
	Value float64
	// Tau is the largest input that counts; larger ones were dropped. 0 when
	// nothing stands out of the noise; Value is 0 then.
	Tau int64
	// Variance is that of the noise in Value. Dropped inputs are not in it.
	Variance float64
}

// Analyze returns the estimate of the sum.
func (s *SumDP) Analyze(sums *Sums) (*SumEstimate, error) {
	if err := s.own(sums); err != nil {
		return nil, err
	}
	return s.estimate(sums.decode()), nil
}

func (s *SumDP) estimate(parts []float64) *SumEstimate {
	kept := s.domains.kept(func(j int) float64 { return parts[j] })
	e := &SumEstimate{}
	for j := range kept {
		e.Value += parts[j]
		e.Variance += s.groups[j].protocol.variance()
		e.Tau = s.domains.bounds[j]
	}
	return e
}

// Simulate draws what Analyze would return for exactly Clients clients with the
// given inputs, and the number of messages they would send together: O(n + U). It
// is for research; it sees all inputs.
func (s *SumDP) Simulate(inputs []int64, rng *rand.Rand) (e *SumEstimate, messages int64, err error) {
	p := s.newPopulation(len(inputs))
	for _, x := range inputs {
		j, err := s.domainOf(x)
		if err != nil {
			return nil, 0, err
		}
		if err := p.add(j, x, rng); err != nil {
			return nil, 0, err
		}
	}
	parts, messages, err := p.finish(rng)
	if err != nil {
		return nil, 0, err
	}
	return s.estimate(parts), messages, nil
}
