package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// BaseSum is one sum of inputs in {0, …, U} under one protocol. Its error is
// discrete Laplace noise of scale about U/ε, however small the inputs are. It is
// immutable and safe for concurrent use.
type BaseSum struct {
	*layout
}

// NewBaseSum returns the protocol that c describes. O(U) for GKMPS, where U is at
// most about √(10·Clients) after rounding.
func NewBaseSum(c Config) (*BaseSum, error) {
	b, err := newBase(c)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(group{protocol: b, count: 1})
	if err != nil {
		return nil, err
	}
	return &BaseSum{layout: l}, nil
}

// Base is the protocol chosen: GKMPS or BBGN.
func (s *BaseSum) Base() Base { return s.groups[0].protocol.kind() }

// Variance bounds the variance of the estimate around the true sum.
func (s *BaseSum) Variance() float64 { return s.groups[0].protocol.variance() }

// Encode returns the messages of a client with input x in {0, …, U}. Expected time
// O(entries · log entries).
func (s *BaseSum) Encode(x int64, rng *rand.Rand) (Multiset, error) {
	return s.encode(nil, single(0, x), rng)
}

// single is the list of non-zero inputs of a client with one input.
func single(instance int, x int64) []input {
	if x == 0 {
		return nil
	}
	return []input{{instance: instance, value: x}}
}

// Analyze returns the estimate of the sum.
func (s *BaseSum) Analyze(sums *Sums) (float64, error) {
	if err := s.own(sums); err != nil {
		return 0, err
	}
	return sums.decode()[0], nil
}

// own refuses sums of another protocol.
func (l *layout) own(sums *Sums) error {
	if sums.layout != l {
		return fmt.Errorf("hdsum: analyze: %w", fl.Invalid("sums", "those of another protocol", "must come from NewSums of this one"))
	}
	return nil
}

// Simulate draws what Analyze would return for exactly Clients clients with the
// given inputs, and the number of messages they would send together, from the
// totals' own laws: O(n + U) instead of O(messages). It is for research; it sees
// all inputs.
func (s *BaseSum) Simulate(inputs []int64, rng *rand.Rand) (sum float64, messages int64, err error) {
	p := s.newPopulation(len(inputs))
	for _, x := range inputs {
		if err := p.add(0, x, rng); err != nil {
			return 0, 0, err
		}
	}
	estimates, messages, err := p.finish(rng)
	if err != nil {
		return 0, 0, err
	}
	return estimates[0], messages, nil
}
