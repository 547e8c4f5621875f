package ledger

import (
	"math"

	"github.com/hushgrad/hushgrad/privacy/compose"
)

// Filter is the accountant of a ledger. It returns an upper bound on the ε for which all
// charges together are (ε, delta)-differentially private, and +Inf if there is none. The ledger
// asks it before every reservation, with the charges that count and the new one, in the order
// of their reservation. None of them is without privacy. A Filter must not call the ledger.
//
// A server chooses the parameters of a round after it has read the client's earlier reports.
// So a Filter has to be a privacy filter (Rogers, Roth, Ullman and Vadhan, Privacy
// Odometers and Filters: Pay-as-you-Go Composition, NeurIPS 2016): the promise must hold for
// every strategy that goes on as long as the bound is within the budget. Accounting for
// parameters that were fixed in advance is not enough, and the smaller of two filters is
// not one by itself; see EitherFilter.
type Filter func(charges []Charge, delta float64) (epsilon float64, err error)

// BasicFilter adds up the ε and the δ with compose.SumUp. It is a filter (Rogers et al.,
// Section 4). Each sum is exact and rounded up once: ten times 0.1 is more than 1, because the
// float64 of 0.1 is more than 0.1.
//
// Cost: O(len(charges)).
func BasicFilter(charges []Charge, delta float64) (float64, error) {
	epsilons, deltas := make([]float64, len(charges)), make([]float64, len(charges))
	for i, c := range charges {
		epsilons[i], deltas[i] = c.Guarantee.Epsilon, c.Guarantee.Delta
	}
	failure, err := compose.SumUp(deltas)
	if err != nil {
		return 0, err
	}
	if !(failure <= delta) {
		return math.Inf(1), nil
	}
	return compose.SumUp(epsilons)
}

// UniformFilter is optimal composition (compose.Homogeneous) of charges that all have the same
// (ε, δ), and +Inf as soon as two differ. It is a filter: the first charge fixes (ε, δ) before
// there is any report, and a strategy that stops early has seen a part of the largest number of
// reports that the budget allows.
//
// Cost: compose.Homogeneous.EpsilonAt's, plus O(len(charges)).
func UniformFilter(charges []Charge, delta float64) (float64, error) {
	if len(charges) == 0 {
		return 0, nil
	}
	first := charges[0].Guarantee
	for _, c := range charges[1:] {
		if c.Guarantee.Epsilon != first.Epsilon || c.Guarantee.Delta != first.Delta {
			return math.Inf(1), nil
		}
	}
	h := compose.Homogeneous{Epsilon: first.Epsilon, Delta: first.Delta, Count: len(charges)}
	// At the ε of basic composition nothing but outright failures is left.
	basic, _, err := compose.Basic(h.Epsilon, h.Delta, h.Count)
	if err != nil {
		return 0, err
	}
	failure, err := h.DeltaAt(basic)
	if err != nil {
		return 0, err
	}
	if failure > delta {
		return math.Inf(1), nil
	}
	return h.EpsilonAt(delta)
}

// EitherFilter is the smaller of UniformFilter and BasicFilter, each at half of delta. It is the
// default.
//
// It is a filter. Let A and B be the histories within the budget of the one and of the other:
// with a history, both hold all of its beginnings. What a strategy has seen when its
// history ends in A it would also have seen if it had been stopped on leaving A. So an event S
// has probability at most e^ε·P'(S and in A) + δ/2 to occur with a history in A, likewise with
// one in B and not in A, and the sum is at most e^ε·P'(S) + δ.
//
// A client that takes part in one kind of round only gets all of its δ from UniformFilter.
//
// Cost: UniformFilter's.
func EitherFilter(charges []Charge, delta float64) (float64, error) {
	basic, err := BasicFilter(charges, delta/2)
	if err != nil {
		return 0, err
	}
	uniform, err := UniformFilter(charges, delta/2)
	if err != nil {
		return 0, err
	}
	return min(basic, uniform), nil
}
