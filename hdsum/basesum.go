package hdsum

import (
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/internal/prefix"
)

// BaseSum is one sum of inputs in {0, …, U} under one protocol. Its error is
// discrete Laplace noise of scale about U/ε, however small the inputs are. It is
// immutable and safe for concurrent use.
type BaseSum struct {
	*layout
}

// NewBaseSum returns the sum of inputs in {0, …, bound}, bound ≥ 1, that c describes.
// O(bound) for GKMPS, where bound is at most about √(10·Clients) after rounding.
func NewBaseSum(c Config, bound int64) (_ *BaseSum, err error) {
	defer prefix.Error(&err, "hdsum: BaseSum")
	sum, err := newNoisySum(c, bound)
	if err != nil {
		return nil, err
	}
	l, err := newLayout(group{sum: sum, run: run{count: 1}})
	if err != nil {
		return nil, err
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
