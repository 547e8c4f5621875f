package hdsum

import (
	"fmt"
	"math/rand/v2"
)

// BaseSum is one sum of inputs in {0, …, U} under one protocol. Its error is
// discrete Laplace noise of scale about U/ε, however small the inputs are. It is
// immutable and safe for concurrent use.
type BaseSum struct {
	*layout
}

// NewBaseSum returns the sum of inputs in {0, …, bound}, bound ≥ 1, that c describes.
// O(bound) for GKMPS, where bound is at most about √(10·Clients) after rounding.
func NewBaseSum(c Config, bound int64) (*BaseSum, error) {
	sum, err := newNoisySum(c, bound)
	if err != nil {
		return nil, fmt.Errorf("hdsum: BaseSum: %w", err)
	}
	l, err := newLayout(group{sum: sum, run: run{count: 1}})
	if err != nil {
		return nil, fmt.Errorf("hdsum: BaseSum: %w", err)
	}
	return &BaseSum{layout: l}, nil
}

// Base is the protocol chosen: GKMPS or BBGN.
func (s *BaseSum) Base() Protocol { return s.groups[0].sum.protocol() }

// Variance bounds the variance of the estimate around the true sum.
func (s *BaseSum) Variance() float64 { return s.groups[0].sum.variance() }

// Encode returns the messages of a client with input x in {0, …, U}. A nil rng means a
// fresh fl.NewRand. Expected time O(entries · log entries).
func (s *BaseSum) Encode(x int64, rng *rand.Rand) (Multiset, error) {
	return s.encode(single(nil, 0, x), rng)
}

// single appends the input of a client that has one, unless it is 0, to the first
// instance of a group.
func single(dst []input, group int, x int64) []input {
	if x == 0 {
		return dst
	}
	return append(dst, input{group: group, value: x})
}

// Analyze returns the estimate of the sum.
func (s *BaseSum) Analyze(sums *Sums) (float64, error) {
	estimates, err := s.decode(sums)
	if err != nil {
		return 0, err
	}
	return estimates[0], nil
}

// Simulate draws what Analyze would return for exactly Clients clients with the
// given inputs, and the number of messages they would send together, from the
// totals' own laws: O(n + U) instead of O(messages). It is for research; it sees
// all inputs.
func (s *BaseSum) Simulate(inputs []int64, rng *rand.Rand) (sum float64, messages int64, err error) {
	p := s.newPopulation(len(inputs))
	var own []input
	for _, x := range inputs {
		own = single(own[:0], 0, x)
		if err := p.add(own, rng); err != nil {
			return 0, 0, err
		}
	}
	estimates, messages, err := p.finish(rng)
	if err != nil {
		return 0, 0, err
	}
	return estimates[0], messages, nil
}
