package bbgn

import "math"

// negligible is how many bits below the first term a term of the recurrence is left
// out. The first term is at least 1/6 of the reference, so n <= 2^40 terms that
// are left out are below 2^-77 of it.
const negligible = 120

// Log2ChiSquare returns log₂(E[q^{C−1}] − 1), rounded up: the bound on the chi-square
// divergence between the shuffled messages of n clients, m each, modulo q, and
// uniform messages of the same sum. C is the number of connected components of the
// random bipartite multigraph of the package comment. It is −Inf for n = 1 or q = 1
// (there is nothing to hide) and +Inf for arguments below 1 (no bound).
//
// With c_k the number of connected multigraphs on k and k vertices, the exponential
// formula says Σ_N (mN)!·E[q^C]·x^N/(N!)² = (Σ_N (mN)!·x^N/(N!)²)^q, since both logarithms
// are Σ_k c_k·x^k/(k!)², the first times q. The recurrence for a power of a series, for
// E_N = E[q^C]/q over N clients, is then E_1 = 1 and
//
//	E_N = 1 + Σ_{0<j<N} ((1−j/N)·(q+1) − 1) · C(N,j)²/C(mN,mj) · E_j,
//
// which the tests confirm by brute force over all shares. Cost: O(n²) time, about n²/2 table
// look-ups, and O(n) memory.
func Log2ChiSquare(n, m int, q uint64) float64 {
	switch {
	case n < 1 || m < 1 || q < 1:
		return math.Inf(1)
	case n == 1 || q == 1:
		return math.Inf(-1)
	}
	r := newRecurrence(n, m, q)
	for k := 2; k < n; k++ {
		plus, minus, scale := r.terms(k)
		r.weighted[k] = r.weight[k] + log2OnePlus(plus-minus, scale)
	}
	plus, minus, scale := r.terms(n)
	return math.Log2(plus-minus+r.relativeError()*(plus+minus)) + scale
}

// recurrence holds binary logarithms, since E_j exceeds every float64 for a few
// hundred clients with few messages, even where E_n − 1 is tiny. With
// w_j = log₂((mj)!/(j!)²), C(N,j)²/C(mN,mj) is 2^(w_j + w_{N−j} − w_N).
type recurrence struct {
	n, m     int
	q1       float64   // q + 1
	weight   []float64 // w_j
	weighted []float64 // w_j + log₂ E_j
}

func newRecurrence(n, m int, q uint64) *recurrence {
	r := &recurrence{n: n, m: m, q1: float64(q) + 1, weight: make([]float64, n+1), weighted: make([]float64, n+1)}
	for j := range n + 1 {
		hands, _ := math.Lgamma(float64(j) + 1)
		slots, _ := math.Lgamma(float64(m)*float64(j) + 1)
		r.weight[j] = (slots - 2*hands) / math.Ln2
	}
	r.weighted[1] = r.weight[1]
	return r
}

// terms returns the sums of the positive and of the negative terms of E_N, both
// divided by 2^scale.
func (r *recurrence) terms(n int) (plus, minus, scale float64) {
	size := float64(n)
	scale = r.weight[1] + r.weight[n-1] - r.weight[n] + math.Log2(r.q1)
	least := scale - negligible - math.Log2(r.q1)
	for j := 1; j < n; j++ {
		e := r.weighted[j] + r.weight[n-j] - r.weight[n]
		if e < least {
			continue
		}
		if e > scale {
			f := math.Exp2(scale - e)
			plus, minus, scale = plus*f, minus*f, e
		}
		t := (float64(n-j)*r.q1 - size) / size * math.Exp2(e-scale)
		if t >= 0 {
			plus += t
		} else {
			minus -= t
		}
	}
	return plus, minus, scale
}

// relativeError bounds the relative error of the terms of E_n. An exponent is the
// sum of four numbers up to W = log₂ (mn)!, each correct to a few units of 2^-52, and
// the error of E_j adds to the error of its term, at most n times in all.
func (r *recurrence) relativeError() float64 {
	lg, _ := math.Lgamma(float64(r.m)*float64(r.n) + 1)
	return float64(r.n) * (lg/math.Ln2 + 64) * 0x1p-48
}

// log2OnePlus returns log₂(1 + x·2^scale) for x >= 0.
func log2OnePlus(x, scale float64) float64 {
	if s := math.Log2(x) + scale; s > 64 {
		return s // 1 is below the last digit
	}
	return math.Log1p(x*math.Exp2(scale)) / math.Ln2
}
