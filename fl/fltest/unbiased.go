package fltest

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// unbiasedRounds is how many rounds the part "unbiased" runs at each ε.
	unbiasedRounds = 40
	// unbiasedZ is how many of its standard errors the mean of these rounds may be off.
	unbiasedZ = 8
	// leastStated and mostStated limit the standard errors that estimates state, in units of the measured ones. A
	// mechanism may state an average client's errors: they are larger than the errors of the client here, whose gradient is
	// mostly 0.
	leastStated, mostStated = 0.5, 4
)

// meanIsUnbiased: clients that all have one gradient have it as their mean, up to the standard errors that estimates state.
func (s *suite) meanIsUnbiased() error { return s.unbiasedAt(s.round) }

// meanIsUnbiasedInQuiet is meanIsUnbiased at the largest ε: with little noise a bias is large beside the noise. A
// mechanism may refuse that ε together with the round's parameters.
func (s *suite) meanIsUnbiasedInQuiet() error {
	quiet := s.round
	quiet.Epsilon = fl.MaxEpsilon
	if _, err := fl.Open(quiet); err != nil || s.round.Epsilon >= quiet.Epsilon {
		return nil
	}
	return s.unbiasedAt(quiet)
}

// unclipped returns a gradient that the mechanism does not clip: a ternary vector, where it takes them, or else one
// coordinate of half the scale.
func (s *suite) unclipped() []float64 {
	gradient := make([]float64, s.round.Dim)
	if m, ok := s.mechanism.(fl.SparseMechanism); ok {
		if sparsity, err := s.sparsity(m); err == nil {
			x := s.vector(0, sparsity)
			for i, j := range x.Index {
				gradient[j] = float64(x.Sign[i]) * s.round.Scale
			}
			return gradient
		}
	}
	gradient[s.round.Dim/2] = s.round.Scale / 2
	return gradient
}

// unbiasedAt checks whole rounds of clients with one gradient.
func (s *suite) unbiasedAt(r fl.Round) error {
	if s.biased {
		return nil
	}
	gradient := s.unclipped()
	a := Accuracy{Gradients: [][]float64{gradient}, Truth: gradient, Reports: len(s.reports), Rounds: unbiasedRounds, Z: unbiasedZ, Seed: s.seed}
	m, err := measure(r, a)
	if err != nil {
		return fmt.Errorf("ε = %g: %w", r.Epsilon, err)
	}
	squared, _ := m.squared.mean()
	if squared <= math.Pow(roundoff*r.Scale, 2) {
		return nil // exact: there is no error to state
	}
	a.MSE = squared * float64(a.Reports)
	err = a.bias(m.coordinates)
	if err == nil && m.stdErrs.n > 0 {
		err = a.stated("standard errors", m.stdErrs, m.squared, leastStated*leastStated, mostStated*mostStated)
	}
	if err != nil {
		return fmt.Errorf("ε = %g: %w", r.Epsilon, err)
	}
	return nil
}
