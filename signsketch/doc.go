// Package signsketch is the one-bit sign sketch for the mean of sparse ternary
// vectors under ε-local differential privacy. For small ε it beats the mechanisms
// of packages coco and collision; [MSE] tells, and package auto picks.
//
// # Mechanism
//
// A client holds exactly s signed coordinates. Its hash function gives every
// coordinate a sign σ_j = (−1)^(c·ℓ(j) ⊕ f), linear over GF(2) in a public random
// label ℓ(j) of m bits. The client takes the majority of x_j·σ_j over its
// coordinates, a fair coin if there is none, and reports it through randomized
// response: truthfully with probability e^ε/(e^ε+1). The report is one bit and the
// seed of the hash function.
//
// # Privacy
//
// Given the hash function, which does not depend on the data, the report is a bit
// with probabilities between 1/(e^ε+1) and e^ε/(e^ε+1): ε-LDP. The probabilities are
// integers (package internal/exact), and the tests enumerate small domains. Shuffled,
// it is covered by the privacy blanket with s = 1 and t = 2.
//
// # Estimation
//
// E[bit·σ_j] = x_j·ρ·(e^ε−1)/(e^ε+1), where ρ is the probability that one of the s
// signed values agrees with their majority minus that it does not. For c ≠ 0 exactly
// half of all 2^m labels have each sign, so the signs of the s coordinates are drawn
// without replacement from 2^m balanced values and ρ is a hypergeometric sum
// (function agreement), which tends to C(s−1, ⌊(s−1)/2⌋)/2^(s−1) as m grows. (c = 0 has
// probability 2^−m and moves ρ by no more than that.) The estimator is the bit times
// σ_j times (e^ε+1)/((e^ε−1)·ρ): in the server it is one addition per report into a
// Walsh spectrum, at place c, and one transform per round.
//
// Within one round the labels are fixed, and products of an odd number of
// signs can alias the sign of another coordinate. If all clients hold the same vector
// the estimate of a coordinate is off by a relative error of standard deviation about
// √(0.57·s/2^m), zero on average over rounds. m is chosen such that this is below 1 %:
// 2^m ≥ 5700·s. It only costs memory.
//
// Source: Wang et al. compare with dense one-bit mechanisms; majority of signs with
// randomized response is Warner's (1965) on top of the sign sketch of Charikar, Chen,
// Farach-Colton (2002).
package signsketch
