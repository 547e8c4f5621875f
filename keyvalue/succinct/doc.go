// Package succinct is a pseudo-random ±1 sketch with Laplace noise, registered as "succinct". Use
// it to compare package pckv with: it estimates the mean and nothing else. Import
// the package for its effect and start with a round of the mechanism [Name].
//
// It follows SUCCINCT (Zhou, Wang, Chan, Fanti, Shi, Locally Differentially Private Sparse
// Vector Aggregation, S&P 2022) and is ε-locally differentially private.
//
// # Mechanism
//
// A report's seed is public and gives every key j a sign Z_j and a bucket, uniform in
// [B] (parameter buckets). A client rounds each value v to b = +1 with probability
// (1+v)/2 and to −1 otherwise. It sums b·Z_j over its keys in bucket 0 and clips the sum to
// [−η, η]. It adds discrete Laplace noise of scale 2η/ε and reports the result. (The seeds
// of two clients differ, so bucket 0 stands for a bucket drawn at random.)
//
// The sum of a client with s keys has the moment generating function
//
//	E[e^λX] ≤ (1 + (cosh λ − 1)/B)^s
//
// so |X| > η has a probability of at most 2·e^(−λη) times that. η is the least integer
// for which some λ > 0 makes it at most β/(2n), for n reports (TargetReports, or else
// MinReports): with probability 1 − β/2 no client is clipped. η never exceeds s. For B = 1
// it is at most ⌈√(2·s·ln(4n/β))⌉, Hoeffding's bound, because cosh λ ≤ e^(λ²/2).
//
// A client with more than s keys is clipped more often, and its part of the mean
// shrinks. Privacy does not depend on the number of its keys.
//
// # Privacy
//
// The seed does not depend on the data. Given the seed, the clipped sum is an integer of
// [−η, η] for every input. The noise has P[k] ∝ e^(−|k|·ε/(2η)), drawn exactly
// (package internal/sample), so the probabilities of a result differ by e^ε at most.
// ε/(2η) is rounded down. A result outside the range of the report's integer is
// moved into it, which is post-processing.
//
// # Reports
//
// A report is the seed, 4 bytes, and the integer, 1 to 4 bytes in two's complement, both
// little-endian. The integer has as many bytes as leave less than e^−100 outside.
//
// # Estimation
//
// The mean of key j is the average of B·Z_j·x over the reports x in whose bucket 0 it
// is, with zeros for the others. It is unbiased but for the clipping. A report costs the
// server O(dim).
package succinct
