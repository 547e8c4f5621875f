package privacy

import (
	"cmp"
	"math"
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
type Blanket struct{ bound }

// Coarse returns the same bound computed from smaller tables, for searches that evaluate it
// thousands of times. It is never lower. In the tests it is above by less than 10^-5 of a δ of
// 10^-8, and by up to 2·10^-4 of one of 10^-20. A single δ is several times faster above 10^4 reports.
func (b *Blanket) Coarse() *Blanket {
	coarse := *b
	coarse.coarse = true
	return &coarse
}

// NewBlanket returns the blanket for local budget epsilon in (0, 20], sparsity s >= 1
// and t = slots > sparsity. Cost: O(1). It returns an error that names the
// parameter if one is out of range.
func NewBlanket(epsilon float64, sparsity, slots int) (*Blanket, error) {
	if err := cmp.Or(checkEpsilon(epsilon), checkShape(sparsity, slots)); err != nil {
		return nil, err
	}
	gain := math.Expm1(epsilon)
	b := bound{epsilon: epsilon, gain: gain, scale: 1, neutralWeight: 1}
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
	return &Blanket{b}, nil
}

func checkShape(sparsity, slots int) error {
	if sparsity < 1 {
		return invalid("sparsity", sparsity, "must be >= 1")
	}
	if slots <= sparsity {
		return invalid("slots", slots, "must be > sparsity = %d", sparsity)
	}
	return nil
}

// Delta returns an upper bound on δ such that the n shuffled messages are
// (epsilonCentral, δ)-differentially private under replacement of one client's
// input. n in [2, 10^9] counts all clients, the victim among them; epsilonCentral is
// finite and >= 0. From the local epsilon on the result is 0.
//
// The result is at least the exact value of the blanket and, where that is 10^-15 or more,
// exceeds it by less than 10^-7 of itself (10^-12 for n <= 60). Results below about
// 10^-170 are Chernoff bounds, too large by a factor of up to 100.
//
// Cost: O(√n) terms of bounded length, and O(√n) tables of O(√n) entries up to a total of
// three million entries; about 15 ms at n = 10^6 and at most 0.1 s at n = 10^9.
func (b *Blanket) Delta(n int, epsilonCentral float64) (float64, error) {
	return b.checkedDelta(n, epsilonCentral, &tables{budget: b.budget()})
}

// Epsilon returns an ε_c for which the n shuffled messages are (ε_c, delta)-
// differentially private under replacement of one client's input: the smallest one
// that Delta certifies, rounded up by at most 10^-10 of itself and then raised by a
// safety margin of 5·10^-7 of itself (see the package documentation). It is never above
// the local epsilon, and it is 0 if Delta(n, 0) <= delta. n in [2, 10^9] counts all
// clients; delta is in (0, 1).
//
// Cost: about ten evaluations of Delta.
func (b *Blanket) Epsilon(n int, delta float64) (float64, error) {
	return b.checkedEpsilon(n, delta)
}
