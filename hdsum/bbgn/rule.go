package bbgn

import (
	"fmt"
	"math"
	"sort"

	"github.com/hushgrad/hushgrad/fl"
)

const (
	// recurrenceClients is the largest n for which Messages evaluates the exact
	// bound: O(n²) operations.
	recurrenceClients = 2000

	// certifiedDelta is the largest δ for which the leading term was compared with
	// the exact bound.
	certifiedDelta = 1e-3

	// fewestMessages is the least m for n >= 2: with m = 2 the leading term is about
	// (q−1)/2 however many clients there are.
	fewestMessages = 3

	// mostMessages is where the search for m ends: only an ε in the thousands
	// asks for more.
	mostMessages = 1 << 12

	// roundingBits is added to log2Leading, which floating point may have rounded
	// down: at most 2^12 additions whose results are below 2^18, so off by 2^-36 each.
	roundingBits = 0x1p-20
)

// Messages returns the number m of messages per client with which n clients and
// modulus q reach (ε, δ): the smallest m that is certified by the chi-square bound
//
//	E[q^{C−1}] − 1 ≤ (2δ/(1+e^ε))²
//
// of the package comment. A single client sends one message. For 2 <= n <= 2000 the left
// side is [Log2ChiSquare], for every δ. For larger n it is twice the leading term
// q·n²/C(mn, m), and a δ above 1e-3 counts as 1e-3. That the factor two covers the other
// terms is not proved there: the recurrence was compared for n = 2001, 4000, 12 000,
// 20 000 and 100 000 with q up to 2^63, and is less than 1.01 times the leading term.
//
// Never smaller than 3 for n >= 2. Messages returns a wrapped *fl.ParamError if n < 1,
// q < 2, ε is not positive and finite, δ is not in (0, 1) or more than 4096 messages
// would be needed. Cost: O(n²) for n <= 2000 (3 to 40 ms at n = 2000), else O(m·log m).
func Messages(n int, q uint64, epsilon, delta float64) (int, error) {
	m, err := messages(n, q, epsilon, delta)
	if err != nil {
		return 0, fmt.Errorf("bbgn: %w", err)
	}
	return m, nil
}

func messages(n int, q uint64, epsilon, delta float64) (int, error) {
	switch {
	case n < 1:
		return 0, fl.Invalid("clients", n, "must be at least 1")
	case q < 2:
		return 0, fl.Invalid("modulus", q, "must be at least 2")
	}
	if err := checkBudget(epsilon, delta); err != nil {
		return 0, err
	}
	if n == 1 {
		return 1, nil
	}
	exact, safety := n <= recurrenceClients, 1. // in bits
	if exact {
		safety = -2 // where to start: (q−1)/q halves the leading term at most, and for n = 2 its two terms are one
	} else {
		delta = min(delta, certifiedDelta)
	}
	allowed := log2Allowed(epsilon, delta)
	m := fewestMessages + sort.Search(mostMessages-fewestMessages+1, func(i int) bool {
		return safety+log2Leading(n, fewestMessages+i, q) <= allowed
	})
	for exact && m <= mostMessages && Log2ChiSquare(n, m, q) > allowed {
		m++
	}
	if m > mostMessages {
		return 0, fl.Invalid("epsilon", epsilon, "needs more than %d messages per client at Delta = %v; take a smaller Epsilon or a larger Delta",
			mostMessages, delta)
	}
	return m, nil
}

// checkBudget returns a *fl.ParamError unless ε is positive and finite and δ is in (0, 1).
func checkBudget(epsilon, delta float64) error {
	switch {
	case math.IsNaN(epsilon) || math.IsInf(epsilon, 0) || epsilon <= 0:
		return fl.Invalid("epsilon", epsilon, "must be a finite number above 0")
	case math.IsNaN(delta) || delta <= 0 || delta >= 1:
		return fl.Invalid("delta", delta, "must be a number strictly between 0 and 1")
	}
	return nil
}

// log2Allowed returns log₂ (2δ/(1+e^ε))², rounded down.
func log2Allowed(epsilon, delta float64) float64 {
	log2Sum := (epsilon + math.Log1p(math.Exp(-epsilon))) / math.Ln2 // log₂(1+e^ε) without overflow
	a := 2 * (1 + math.Log2(delta) - log2Sum)
	return a - math.Abs(a)*0x1p-48 - 0x1p-48
}

// log2Leading returns log₂ of q·n²/C(mn, m), rounded up. The first and the last term
// of the recurrence, with E_{n−1} = 1, make (q−1)·n²/C(mn, m). The binomial
// coefficient is multiplied out, because for mn = 10^10 a difference of
// log-gammas has no correct digit behind the point.
func log2Leading(n, m int, q uint64) float64 {
	nm := float64(n) * float64(m)
	l := math.Log2(float64(q)) + 2*math.Log2(float64(n))
	for i := range m {
		l -= math.Log2((nm - float64(i)) / float64(m-i))
	}
	return l + roundingBits
}
