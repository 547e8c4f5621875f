package bbgn

import "math"

// log2Certificate returns an upper bound of log₂(E[q^{C−1}] − 1) for n >= 4 and m >= 2,
// in O(m) operations: the sum of the three bounds that the package comment derives
// under "Many clients", rounded up.
func log2Certificate(n, m int, q uint64) float64 {
	two, more, small := log2Pieces(n, m, q)
	return log2Sum(log2Sum(two, more), small) + roundingBits
}

// log2Pieces returns the binary logarithms of the three bounds, for compositions of n into
// two parts, into more parts with one of at least n − h, and into parts of at most h.
func log2Pieces(n, m int, q uint64) (two, more, small float64) {
	logQ, h := math.Log2(float64(q)), n/2
	two = logQ + log2Total(h, func(b int) float64 { return log2Split(n, b, m) })

	v := logQ + log2Total(h, func(b int) float64 { return log2Split(n-h+b, b, m) })
	more = 2*v - 1 + math.Exp2(v)/math.Ln2 // e^x − 1 − x ≤ x²·e^x/2

	first, half, all := log2Weight(1, m), log2Weight(h, m), log2Weight(n, m)
	mean := (half - first) / float64(h-1) // log₂ A
	nqc := math.Exp2(math.Log2(float64(n)) + logQ + first - mean)
	small = first - mean + float64(n)*mean - all + 2*math.Sqrt(nqc)/math.Ln2
	small += (all + math.Abs(small)) * 0x1p-40 // of each weight, and of n itself, some units of 2^-52 may be lost
	return two, more, small
}

// log2Total returns the binary logarithm of f(1) + … + f(h), or more, for f whose values
// do not rise; term returns their logarithms. From the fourth on all count as the fourth.
func log2Total(h int, term func(b int) float64) float64 {
	const alone = 3
	total := math.Inf(-1)
	for b := 1; b <= min(h, alone); b++ {
		total = log2Sum(total, term(b))
	}
	if h > alone {
		total = log2Sum(total, math.Log2(float64(h-alone))+term(alone+1))
	}
	return total
}

// log2Split returns log₂ of u(n, b) = C(n, b)²/C(mn, mb), rounded up. The binomial
// coefficients are multiplied out, because for mn = 10^10 a difference of log-gammas
// has no correct digit behind the point.
func log2Split(n, b, m int) float64 {
	l := 0.
	for i := range b {
		l += 2 * math.Log2((float64(n)-float64(i))/float64(b-i))
	}
	nm := float64(n) * float64(m)
	for i := range m * b {
		l -= math.Log2((nm - float64(i)) / float64(m*b-i))
	}
	return l + roundingBits*float64(b*b)
}

// log2Weight returns log₂ of w(k) = (mk)!/(k!)², correct to some units of the last digit
// of log₂ (mk)!.
func log2Weight(k, m int) float64 {
	hands, _ := math.Lgamma(float64(k) + 1)
	slots, _ := math.Lgamma(float64(m)*float64(k) + 1)
	return (slots - 2*hands) / math.Ln2
}

// log2Sum returns log₂(2^a + 2^b).
func log2Sum(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, 1) || math.IsInf(b, -1) {
		return a
	}
	return a + log2OnePlus(1, b-a)
}
