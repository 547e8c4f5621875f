package bbgn

import (
	"math"
	"sort"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

const (
	// recurrenceClients is the largest n for which Messages evaluates the exact
	// bound: O(n²) operations.
	recurrenceClients = 2000

	// largestDelta is what a larger δ counts as where n > recurrenceClients: what
	// δ = 1e-3 costs is little, and m stays what it always was.
	largestDelta = 1e-3

	// fewestMessages is the least m for n >= 2: with m = 2 the leading term is about
	// (q−1)/2 however many clients there are.
	fewestMessages = 3

	// mostMessages is where the search for m ends: only an ε in the thousands
	// asks for more.
	mostMessages = 1 << 12

	// roundingBits is added to sums of logarithms, which floating point may have rounded
	// down: at most 2^12 additions whose results are below 2^18, so off by 2^-36 each.
	roundingBits = 0x1p-20
)

// Messages returns a number m of messages per client with which n clients and modulus q
// reach (ε, δ). Every call certifies it by the chi-square bound
//
//	E[q^{C−1}] − 1 ≤ (2δ/(1+e^ε))²
//
// of the package comment. For 2 <= n <= 2000 the left side is [Log2ChiSquare], and m is the
// smallest that meets the condition. For larger n the left side is the upper bound that
// the package comment derives under "Many clients". There the search starts where twice the
// leading term q·n²/C(mn, m) meets the condition, and a δ above 1e-3 counts as 1e-3. So m can
// be larger there than the bound asks for. A single client sends one message.
//
// Never smaller than 3 for n >= 2. Messages returns a wrapped *fl.ParamError if n < 1,
// q < 2, ε is not positive and finite, δ is not in (0, 1) or more than 4096 messages
// would be needed. Cost: O(n²) for n <= 2000 (3 to 40 ms at n = 2000), else O(m·log m),
// below 0.1 ms.
func Messages(n int, q uint64, epsilon, delta float64) (_ int, err error) {
	defer prefix.Error(&err, "bbgn")
	return messages(n, q, epsilon, delta)
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
	safety := 1. // in bits: where to start
	if n <= recurrenceClients {
		safety = -2 // (q−1)/q halves the leading term at most, and for n = 2 its two terms are one
	} else {
		delta = min(delta, largestDelta)
	}
	allowed := log2Allowed(epsilon, delta)
	m := fewestMessages + sort.Search(mostMessages-fewestMessages+1, func(i int) bool {
		return safety+log2Leading(n, fewestMessages+i, q) <= allowed
	})
	m = certified(m, n, q, allowed)
	if m > mostMessages {
		return 0, fl.Invalid("epsilon", epsilon, "needs more than %d messages per client at Delta = %v; take a smaller Epsilon or a larger Delta",
			mostMessages, delta)
	}
	return m, nil
}

// certified returns the smallest m from start on whose bound is at most 2^allowed, or
// one above mostMessages.
func certified(start, n int, q uint64, allowed float64) int {
	bound := log2Certificate
	if n <= recurrenceClients {
		bound = Log2ChiSquare
	}
	m := start
	for m <= mostMessages && !(bound(n, m, q) <= allowed) {
		m++
	}
	return m
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
// of the recurrence, with E_{n−1} = 1, make (q−1)·n²/C(mn, m).
func log2Leading(n, m int, q uint64) float64 {
	return math.Log2(float64(q)) + log2Split(n, 1, m)
}
