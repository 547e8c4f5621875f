package privacy

import (
	"fmt"
	"math"
)

// Limits of the parameters.
const (
	maxEpsilon = 20
	minUsers   = 2
	maxUsers   = 1_000_000_000
)

// Blanket is the three-category privacy blanket of an s-sparse mechanism with t
// output slots: of every randomizer that answers one of t slots, each with
// probability between 1/Ω and e^ε/Ω, Ω = s·e^ε + t − s. Collision and CoCo of Wang
// et al. are such randomizers. It is immutable and safe for concurrent use.
//
// Of n shuffled messages each is, independently,
//
//	in favour of the victim's input x   with probability   α = min(s, t−s)/Ω,
//	in favour of the alternative x'     with probability   α,
//	neutral                             with probability   |t − 2s|/Ω,
//
// and otherwise carries the sender's own data and says nothing about the victim.
// With A, B, R the counts of the three kinds and q = e^{ε_c},
//
//	δ(ε_c) <= (1/n)·E[((e^ε − q)·A − (e^ε·q − 1)·B − m·(q − 1)·R)_+],
//
// where m = 1 for t >= 2s and m = e^ε for s < t < 2s. The package documentation
// proves it.
type Blanket struct {
	epsilon float64
	gain    float64 // e^ε − 1

	// A message is of kind A or B with probability paired, of kind R or none with
	// probability unpaired = 1 − paired; of the latter a share of neutral is of
	// kind R. The complements are kept because a difference would cancel.
	paired, unpaired   float64
	neutral, unneutral float64
	neutralWeight      float64 // m
}

// NewBlanket returns the blanket for local budget epsilon in (0, 20], sparsity s >= 1
// and t = slots > sparsity. Cost: O(1). It returns an error that names the
// parameter if one is out of range.
func NewBlanket(epsilon float64, sparsity, slots int) (*Blanket, error) {
	if !(epsilon > 0 && epsilon <= maxEpsilon) {
		return nil, fmt.Errorf("privacy: epsilon: got %v, must be in (0, %d]", epsilon, maxEpsilon)
	}
	if sparsity < 1 {
		return nil, fmt.Errorf("privacy: sparsity: got %d, must be >= 1", sparsity)
	}
	if slots <= sparsity {
		return nil, fmt.Errorf("privacy: slots: got %d, must be > sparsity = %d", slots, sparsity)
	}
	gain := math.Expm1(epsilon)
	b := &Blanket{epsilon: epsilon, gain: gain, neutralWeight: 1}
	if slots-sparsity < sparsity {
		b.neutralWeight = gain + 1
	}
	pairs := float64(min(sparsity, slots-sparsity))
	middle := math.Abs(float64(slots - sparsity - sparsity))
	silent := float64(sparsity) * gain // Ω − t
	omega := silent + float64(slots)
	b.paired = 2 * pairs / omega
	b.unpaired = (silent + middle) / omega
	b.neutral = middle / (silent + middle)
	b.unneutral = silent / (silent + middle)
	return b, nil
}

// Delta returns an upper bound on δ such that the n shuffled messages are
// (epsilonCentral, δ)-differentially private under replacement of one user's
// input. n in [2, 10^9] counts all users, the victim among them; epsilonCentral is
// finite and >= 0. From the local epsilon on the result is 0.
//
// The result is at least the exact value of the blanket and, where that is 10^-15 or more,
// exceeds it by less than 10^-7 of itself (10^-12 for n <= 60). Results below about
// 10^-170 are Chernoff bounds, too large by a factor of up to 100.
//
// Cost: O(√n) terms of bounded length, and O(√n) tables of O(√n) entries up to a total of
// three million entries; about 15 ms at n = 10^6 and at most 0.1 s at n = 10^9.
func (b *Blanket) Delta(n int, epsilonCentral float64) (float64, error) {
	if err := checkUsers(n); err != nil {
		return 0, err
	}
	if !(epsilonCentral >= 0) || math.IsInf(epsilonCentral, 1) {
		return 0, fmt.Errorf("privacy: central epsilon: got %v, must be finite and >= 0", epsilonCentral)
	}
	return b.delta(n, epsilonCentral, tableBudget), nil
}

func checkUsers(n int) error {
	if n < minUsers || n > maxUsers {
		return fmt.Errorf("privacy: number of users: got %d, must be in [%d, %d]", n, minUsers, maxUsers)
	}
	return nil
}

// delta is Delta for checked arguments and a bound on the work spent on tables.
func (b *Blanket) delta(n int, epsilonCentral float64, budget int) float64 {
	if epsilonCentral >= b.epsilon {
		return 0 // the local guarantee holds with δ = 0
	}
	l := b.losses(epsilonCentral)
	t := b.tilt(l, n)
	bound := t.chernoff * b.gain / float64(n)
	if t.chernoff < minChernoff {
		return max(bound, math.SmallestNonzeroFloat64)
	}
	return min(bound, b.positivePart(l, t, n, budget)*b.gain/float64(n))
}

// losses holds what one message of each kind adds to the sum inside the expectation,
// in units of e^ε − 1. That unit keeps all of them in [0, e^ε] for every ε, however small.
type losses struct {
	favour  float64 // kind A adds (e^ε − q)/(e^ε − 1), in (0, 1]
	against float64 // kind B takes away (e^ε·q − 1)/(e^ε − 1)
	neutral float64 // kind R takes away m·(q − 1)/(e^ε − 1)
	excess  float64 // (q − 1)/(e^ε − 1), in [0, 1)
	width   float64 // favour + against = 1 + q
}

// losses returns the losses at q = e^{ε_c}, 0 <= ε_c < ε. The difference e^ε − q is
// taken as q·(e^{ε − ε_c} − 1), which keeps its digits as ε_c approaches ε.
func (b *Blanket) losses(epsilonCentral float64) losses {
	q := math.Exp(epsilonCentral)
	excess := math.Expm1(epsilonCentral) / b.gain
	return losses{
		favour:  q * (math.Expm1(b.epsilon-epsilonCentral) / b.gain),
		against: q + excess,
		neutral: b.neutralWeight * excess,
		excess:  excess,
		width:   1 + q,
	}
}
