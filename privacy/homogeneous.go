package privacy

import (
	"cmp"
	"math"
	"sort"

	"github.com/hushgrad/hushgrad/internal/binomial"
)

const (
	// maxEach is the largest ε of one mechanism.
	maxEach = 20.0

	// homogeneousSlack is added to a computed divergence, as a part of it. It covers
	// all roundings; see divergence.
	homogeneousSlack = 1e-10

	// negligible replaces divergences whose terms are too small for float64 to hold
	// with full precision.
	negligible = 1e-250
)

// Homogeneous is the adaptive composition of Count mechanisms with one budget: each is
// (Epsilon, Delta)-differentially private for the same neighbouring relation. The promises of
// its methods hold for the best attack on the worst such mechanisms. Some mechanisms meet them
// with equality. This is the optimal composition theorem of Kairouz, Oh and
// Viswanath, The Composition Theorem for Differential Privacy, ICML 2015, Theorem 3.3.
//
// Epsilon in [0, 20], Delta in [0, 1), Count in [1, 10^7].
//
// # The formula
//
// With p = 1/(1 + e^Epsilon), k = Count and X ~ Binomial(k, p), the composition is
// (ε, δ)-private if and only if
//
//	δ >= 1 − (1 − Delta)^k·(1 − E[(1 − e^{ε − (k − 2X)·Epsilon})_+]),     ε >= 0.       (1)
//
// # Proof
//
// Every (Epsilon, Delta)-private pair of output laws is the image, under one random map,
// of the two laws of randomized response with an error symbol: with probability Delta the
// input bit is shown in the clear, and otherwise it is shown flipped with
// probability p and marked as doubtful. So whatever k adaptive mechanisms show can be made
// from k independent such symbols, which are themselves a permitted choice. Some symbol is
// in the clear with probability 1 − (1 − Delta)^k. If none is, let X count the flipped bits:
// it has mass P_l = C(k,l)·e^{(k−l)·Epsilon}/(1+e^Epsilon)^k under one input and
// Q_l = P_{k−l} under the other, and the least δ is the hockey-stick divergence
// Σ_l (P_l − e^ε·Q_l)_+. As P_l/Q_l = e^{(k−2l)·Epsilon} this is the expectation in (1).
// Theorem 3.3 states (1) for ε = (k − 2i)·Epsilon.
type Homogeneous struct {
	Epsilon, Delta float64 // budget of one mechanism; epsilonEach and deltaEach in errors
	Count          int     // number of mechanisms
}

// DeltaAt returns the smallest δ for which every such composition is
// (epsilon, δ)-differentially private, rounded up: by at most 10^-10 of it plus 10^-250.
// epsilon must be finite and at least 0.
//
// Cost: O(√Count).
func (h Homogeneous) DeltaAt(epsilon float64) (float64, error) {
	if err := cmp.Or(h.check(), checkComposedEpsilon(epsilon)); err != nil {
		return 0, err
	}
	return h.deltaAt(epsilon), nil
}

// check accepts the fields. It calls them as the parameters of PerMechanism are called.
func (h Homogeneous) check() error {
	if !(h.Epsilon >= 0 && h.Epsilon <= maxEach) {
		return invalidComposition("epsilonEach", h.Epsilon, "must be in [0, %v]", maxEach)
	}
	if !(h.Delta >= 0 && h.Delta < 1) {
		return invalidComposition("deltaEach", h.Delta, "must be in [0, 1)")
	}
	return checkCount("count", h.Count)
}

// deltaAt is DeltaAt for checked arguments.
func (h Homogeneous) deltaAt(epsilon float64) float64 {
	survival := math.Exp(float64(h.Count)*math.Log1p(-h.Delta)) * (1 + 0x1p-50)
	return math.Min(1, h.failure()+survival*h.divergence(epsilon))
}

// failure returns 1 − (1 − Delta)^Count rounded up. It does not exceed Count·Delta by more
// than that product's own rounding, so that a budget split evenly is found sufficient.
func (h Homogeneous) failure() float64 {
	exact := -math.Expm1(float64(h.Count) * math.Log1p(-h.Delta))
	return math.Min(exact*(1+0x1p-50), productUp(h.Delta, h.Count))
}

// divergence returns the expectation in (1) of Homogeneous, rounded up.
//
// Its terms T_l = P_l·(1 − e^{−gap(l)}), gap(l) > 0, are log-concave in l because both
// factors are. So the sum starts at the largest term and walks both ways, and once two
// neighbours have ratio r < 1 all that follows is at most the last term times
// r/(1 − r), which is added.
//
// Roundings, relative to the sum, in units of u = 2^-53 and for k = 10^7: P_l moves by at most
// |l − kp| times the error of p and q, 8u together, where |l − kp| <= √(k·log(1/P_l)/2), or
// 6·10^4 for P_l = 10^-260; package internal/binomial states 45u + 4u·log(1/P_l) for anchors, and the
// steps between them add less than 10^3 u; the sum has fewer than 2·10^5 terms, all
// positive; gap is correctly rounded. Together below 8·10^-11, so homogeneousSlack covers it.
func (h Homogeneous) divergence(epsilon float64) float64 {
	k, p, q := h.Count, 1/(1+math.Exp(h.Epsilon)), 1/(1+math.Exp(-h.Epsilon))
	gap := func(l int) float64 { return math.FMA(float64(k-2*l), h.Epsilon, -epsilon) }
	factor := func(l int) float64 { return -math.Expm1(-gap(l)) }

	last := sort.Search(k+1, func(l int) bool { return gap(l) <= 0 }) - 1
	if last < 0 {
		return 0
	}
	mode := sort.Search(last, func(l int) bool { // T_{l+1} < T_l
		return float64(k-l)*p*factor(l+1) < float64(l+1)*q*factor(l)
	})
	largest := binomial.PMF(mode, k, p, q) * factor(mode)
	if largest < negligible/(2*MaxCount) {
		return negligible
	}
	sum := walk(largest, mode+1, last, k, p, q, factor)
	// Downwards, which is upwards in the number k − l of bits that are not flipped.
	sum = walk(sum, k-mode+1, k, k, q, p, func(i int) float64 { return factor(k - i) })
	return math.Min(1, sum*(1+homogeneousSlack))
}

// walk adds P[X = l]·factor(l) for l from first to last to sum > 0, X ~ Binomial(k, p). The
// terms are log-concave and nowhere above sum. Where little can come any more, the rest is
// replaced by a bound on its sum.
func walk(sum float64, first, last, k int, p, q float64, factor func(int) float64) float64 {
	var row [binomial.AnchorEvery]float64
	var previous, term float64
	for ; first <= last; first += len(row) {
		terms := row[:min(len(row), last-first+1)]
		binomial.Row(terms, first, k, p, q)
		for i, mass := range terms {
			previous, term = term, mass*factor(first+i)
			sum += term
		}
		if term == 0 {
			return sum // underflow, 60 and more orders of magnitude below sum
		}
		// Twice the geometric series, so that the rounding of ratio does not matter.
		ratio := term / previous
		if rest := 2 * term * ratio / (1 - ratio); ratio < 1 && rest <= binomial.TailMass*sum {
			return sum + rest
		}
	}
	return sum
}
