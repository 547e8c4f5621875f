package hdsum

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// SumDP sums inputs in {0, …, U} with an error that follows the largest values
// that occur more than a few times, instead of U (the paper, Algorithm 3). It is
// immutable and safe for concurrent use.
//
// Each sub-domain of the inputs has an instance of its own. The analyzer finds the
// last sub-domain whose sum stands out of the noise and adds up the sums up to
// there. It drops larger inputs, which the paper calls clipping. The estimate is low
// by the sum of the dropped inputs. Its noise is the noise of inputs as large as the
// last sub-domain kept.
type SumDP struct {
	*layout
	domains domains
}

// NewSumDP returns the sum of inputs in {0, …, bound}, bound ≥ 1, that c describes,
// with ⌈log2 bound⌉ + 1 instances. beta in (0, 1) is the probability that noise alone
// makes a sub-domain count.
func NewSumDP(c Config, bound int64, beta float64) (_ *SumDP, err error) {
	defer prefix.Error(&err, "hdsum: SumDP")
	if err := c.check(bound, beta); err != nil {
		return nil, err
	}
	c = perInstance(c, bound)
	s := &SumDP{domains: newDomains(bound, c.Epsilon, beta)}
	if s.layout, err = s.domains.layout(c, 1); err != nil {
		return nil, err
	}
	return s, nil
}

// Encode returns the messages of a client with input x in {0, …, U}. A nil rng means a
// fresh fl.NewRand. Expected time O(entries · log entries).
func (s *SumDP) Encode(x int64, rng *rand.Rand) (Multiset, error) {
	inputs, err := s.inputs(nil, x)
	if err != nil {
		return nil, err
	}
	return s.encode(inputs, rng)
}

// inputs appends x as the input of its sub-domain.
func (s *SumDP) inputs(dst []input, x int64) ([]input, error) {
	if top := s.domains.top(); x < 0 || x > top {
		return nil, fmt.Errorf("hdsum: SumDP: %w", fl.Invalid("x", x, "must be in [0, %d]", top))
	}
	return single(dst, domainOf(max(x, 1)), x), nil
}

// SumEstimate is the outcome of a SumDP.
type SumEstimate struct {
	Value float64
	// Tau is the largest input that counts; larger ones were dropped. 0 when
	// nothing stands out of the noise; Value is 0 then.
	Tau int64
	// Variance is the variance of the noise in Value. Dropped inputs are not in it.
	Variance float64
}

// Analyze returns the estimate of the sum.
func (s *SumDP) Analyze(sums *Sums) (*SumEstimate, error) {
	parts, err := s.decode(sums)
	if err != nil {
		return nil, err
	}
	return s.estimate(parts), nil
}

func (s *SumDP) estimate(parts []float64) *SumEstimate {
	kept := s.domains.kept(func(j int) float64 { return parts[j] })
	e := &SumEstimate{}
	for j := range kept {
		e.Value += parts[j]
		e.Variance += s.groups[j].sum.variance()
		e.Tau = s.domains.bounds[j]
	}
	return e
}
