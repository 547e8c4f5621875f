package ledger

import (
	"context"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/privacy"
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

// BasicFilter adds up the ε and the δ with privacy.SumUp. It is a filter (Rogers et al.,
// Section 4). Each sum is exact and rounded up once: ten times 0.1 is more than 1, because the
// float64 of 0.1 is more than 0.1.
//
// Cost: O(len(charges)).
func BasicFilter(charges []Charge, delta float64) (float64, error) {
	epsilons, deltas := make([]float64, len(charges)), make([]float64, len(charges))
	for i, c := range charges {
		epsilons[i], deltas[i] = c.Guarantee.Epsilon, c.Guarantee.Delta
	}
	failure, err := privacy.SumUp(deltas)
	if err != nil {
		return 0, err
	}
	if !(failure <= delta) {
		return math.Inf(1), nil
	}
	return privacy.SumUp(epsilons)
}

// UniformFilter is optimal composition (privacy.Homogeneous) of charges that all have the same
// (ε, δ), and +Inf as soon as two differ. It is a filter: the first charge fixes (ε, δ) before
// there is any report, and a strategy that stops early has seen a part of the largest number of
// reports that the budget allows.
//
// Cost: privacy.Homogeneous.EpsilonAt's, plus O(len(charges)).
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
	h := privacy.Homogeneous{Epsilon: first.Epsilon, Delta: first.Delta, Count: len(charges)}
	// At the ε of basic composition nothing but outright failures is left.
	basic, _, err := privacy.BasicComposition(h.Epsilon, h.Delta, h.Count)
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

// GaussianFilter composes charges of Gaussian noise (fl.Guarantee.Sigma) exactly, and is +Inf as soon as there is another
// one. Noise multipliers compose to 1/√(Σ 1/σ²), also where each is chosen after the earlier reports were seen: a bound on the sum
// is a filter (Koskela, Tobaben and Honkela, Individual Privacy Accounting with Gaussian Differential Privacy, ICLR 2023; Smith and
// Thakurta, Fully Adaptive Composition for Gaussian Differential Privacy, 2022).
//
// Cost: 10 ms, plus O(len(charges)).
func GaussianFilter(charges []Charge, delta float64) (float64, error) {
	if len(charges) == 0 {
		return 0, nil
	}
	inverse := 0. // Σ 1/σ², rounded up
	for _, c := range charges {
		if !(c.Guarantee.Sigma > 0) {
			return math.Inf(1), nil
		}
		inverse += 1 / (c.Guarantee.Sigma * c.Guarantee.Sigma)
	}
	events := privacy.GaussianReports(1/math.Sqrt(inverse)*(1-float64(len(charges)+4)*0x1p-52), 1)
	events[1].Count = len(charges)
	if events[0].Sigma < leastSigma || events[1].Delta*float64(len(charges)) >= delta/2 {
		return math.Inf(1), nil
	}
	all, err := privacy.Compose(context.Background(), events, privacy.Options{})
	if err != nil {
		return 0, err
	}
	bounds, err := all.Epsilon(context.Background(), delta)
	if err != nil || !(bounds.Upper <= fl.MaxEpsilon) {
		return math.Inf(1), err
	}
	return bounds.Upper, nil
}

// leastSigma is the least noise multiplier that package privacy composes.
const leastSigma = 0.05

// EitherFilter is the smaller of UniformFilter and BasicFilter, each at half of delta. Where the first charge is one of Gaussian
// noise, GaussianFilter takes the place of UniformFilter. It is the default.
//
// It is a filter, because the first charge is fixed before there is any report. Let A and B be the histories within the budget of the one and of the other:
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
	alike := UniformFilter
	if len(charges) > 0 && charges[0].Guarantee.Sigma > 0 {
		alike = GaussianFilter
	}
	composed, err := alike(charges, delta/2)
	if err != nil {
		return 0, err
	}
	return min(basic, composed), nil
}
