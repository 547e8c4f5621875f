package privacy

import (
	"cmp"
	"math"
)

// PairCurve is the divergence of the two-counter pair (P_α, Q_α) of Wang et al., Theorem 5,
// for local budget epsilon in (0, 20] and alpha in (0, 1/(e^ε+1)]. It is not a bound: the
// package documentation has a counterexample, even with the right alpha = s/Ω.
//
// With K ~ Binomial(n, 2α), A of them heads and B tails, the divergence is
//
//	(1/n)·E[((e^ε − q)·A − (e^ε·q − 1)·B − κ·(q − 1)·(n − K))_+],
//
// κ = (1 − (e^ε+1)α)/(1 − 2α): every message that ticks no counter is neutral, with weight κ.
//
// Cost: as for Clone.Epsilon.
func PairCurve(epsilon, alpha float64) (Comparison, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Comparison{}, err
	}
	// The upper limit is met up to rounding: alpha is often computed as 1/(e^ε+1).
	idle := 1 - (math.Exp(epsilon)+1)*alpha
	if !(alpha > 0 && alpha < 0.5 && idle >= -0x1p-50) {
		return Comparison{}, invalid("alpha", alpha, "must be in (0, 1/(e^%v + 1)] and below 1/2", epsilon)
	}
	pair := bound{
		epsilon: epsilon, gain: math.Expm1(epsilon), scale: 1,
		paired: 2 * alpha, unpaired: 1 - 2*alpha,
		neutral: 1, neutralWeight: math.Max(0, idle) / (1 - 2*alpha),
	}
	return newComparison("pair", "Wang et al., Theorem 5", NotABound,
		func(n int, delta float64) (float64, error) { return pair.root(n, delta), nil }), nil
}

// Least is a curve that no bound on these reports can be below: the pair with α = s/Ω, which the reports of two neighbours
// have where no other client has a slot of theirs. This takes slots for three clients, t >= 3s. Where slots come in pairs, as
// CoCo's, the neighbours are opposite to each other and the caller makes sure of t >= 4s.
func Least(epsilon float64, sparsity, slots int) (Comparison, error) {
	if err := cmp.Or(checkEpsilon(epsilon), checkShape(sparsity, slots)); err != nil {
		return Comparison{}, err
	}
	if slots < 3*sparsity {
		return Comparison{}, invalid("slots", slots, "must be at least 3·sparsity, %d", 3*sparsity)
	}
	c, err := PairCurve(epsilon, pairAlpha(epsilon, sparsity, slots))
	c.Name, c.Status = "lower bound", LowerBound
	return c, err
}

// pairAlpha is the probability s/Ω with which a report of another client falls among the marks
// of x. The pair needs t >= 2s; below, it is the largest α there is.
func pairAlpha(epsilon float64, sparsity, slots int) float64 {
	s := float64(sparsity)
	alpha := s / (s*math.Expm1(epsilon) + float64(slots))
	return math.Min(alpha, 1/(math.Exp(epsilon)+1))
}
