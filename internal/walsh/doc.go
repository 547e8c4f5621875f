// Package walsh computes the Walsh–Hadamard transform of a vector in place. Use it to rotate
// gradients and to read counts from a spectrum. Start with [Transform], which is all there
// is.
//
// # Definition
//
// The transform of a vector of n = 2^m elements, indexed from zero, is
//
//	out[y] = Σ_x (−1)^popcount(x AND y) in[x],    y = 0, …, n−1,
//
// the product with the Hadamard matrix of order n in natural (Hadamard, or
// Sylvester) order. It is not normalised: the matrix is symmetric and its square
// is n times the identity, so that
//
//   - applying it twice multiplies by n; divide by n for the inverse,
//   - dividing by √n makes it orthogonal: lengths are kept.
//
// A vector whose length is not a power of two is for the caller to pad; out[0]
// is the sum of all elements, and the transform of the x-th unit vector is the
// character y ↦ (−1)^popcount(x AND y).
//
// # Cost
//
// n·m additions and subtractions, O(n log n), and no multiplication. There is no
// table and no scratch vector. Three of the m levels are done per pass over
// memory, and parts that fit a cache are finished before the next part is
// touched. From 2^16 elements the work is spread over goroutines, at most
// GOMAXPROCS and at most one for every 2^15 elements; below, nothing is
// allocated. A caller that already keeps all cores busy gains nothing from that.
//
// # Exactness
//
// The result does not depend on GOMAXPROCS: each element goes through the same
// additions in the same order on any number of goroutines, hence the same bits.
//
//   - int64: exact as long as Σ|in[x]| < 2^63, which is not checked. Beyond that
//     the arithmetic wraps and out[y] is right modulo 2^64, so an element whose
//     true value fits is still exact.
//   - float32, float64: exact when all elements are integers, or integer
//     multiples of one power of two, and Σ|in[x]| is at most 2^24 or 2^53 of
//     these units. Otherwise out[y] is off by at most m·u/(1−m·u)·Σ|in[x]| with
//     u = 2^−24 or 2^−53, provided nothing overflows, because every element of
//     in passes through m rounded additions (Higham, Accuracy and Stability of
//     Numerical Algorithms, 2nd edition, 2002, section 4.2).
//   - NaN and infinities are not looked for. As every out[y] depends on all of
//     in, one of them leaves no finite element in the result.
//
// # Source
//
// The factorisation into sparse levels and its order come from Fino and
// Algazi, Unified Matrix Treatment of the Fast Walsh–Hadamard Transform, IEEE
// Transactions on Computers C-25(11), 1976.
package walsh
