package rotation

import "math"

// Bound returns norm·√(2·ln(4·padded·clients/beta)), rounded up: a range that the
// coordinates of rotated vectors keep to.
//
// Take at most clients vectors of L2 norm at most norm that are fixed before the signs are
// drawn. All coordinates of all rotated vectors are at most Bound in absolute value, with
// probability at least 1 − beta/2 over uniform signs. The other half of beta is left to
// whatever is computed from the coordinates.
//
// Proof. A rotated coordinate is Σ ±x_i with independent uniform signs, since an entry ±1
// of H only relabels them. By Hoeffding's inequality it exceeds B in absolute value with
// probability at most 2·exp(−B²/(2‖x‖₂²)), which for this B is at most
// beta/(2·padded·clients). There are padded·clients coordinates.
//
// The bound is in the unit of norm, for the unnormalised H; padded is PaddedDim. norm must
// be finite and at least 0, padded and clients at least 1, beta in (0, 1): otherwise
// the result is NaN. Cost: O(1).
//
// Source: Hoeffding, Probability Inequalities for Sums of Bounded Random Variables,
// Journal of the American Statistical Association 58(301), 1963, Theorem 2.
func Bound(norm float64, padded, clients int, beta float64) float64 {
	if !(norm >= 0) || math.IsInf(norm, 1) || padded < 1 || clients < 1 || !(beta > 0 && beta < 1) {
		return math.NaN()
	}
	// A sum of logarithms: the quotient may overflow, the product of integers too. Its
	// terms are positive and it is at least 2, so 2^-50 covers all roundings. Log2 and
	// not Log, whose amd64 version is wrong for subnormal numbers.
	exponent := math.Ln2 * (2 + math.Log2(float64(padded)) + math.Log2(float64(clients)) - math.Log2(beta))
	return norm * math.Sqrt(2*exponent) * (1 + 0x1p-50)
}
