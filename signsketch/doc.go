// Package signsketch estimates the mean of sparse ternary vectors from one bit per client. Use
// it at small ε: it beats coco and collision there, and package mechanisms compares the three. Start
// with a round with the mechanism "signsketch". [Scheme] computes the error of such a round.
//
// A report is the bit and the seed of a hash function. It is ε-locally differentially private.
//
// # Mechanism
//
// A client holds exactly s signed coordinates. Its hash function gives every
// coordinate a sign σ_j = (−1)^(c·ℓ(j) ⊕ f), linear over GF(2) in a public random
// label ℓ(j) of m bits. The client takes the majority of x_j·σ_j over its
// coordinates, or a fair coin if there is none. It reports this bit through randomized
// response: truthfully with probability e^ε/(e^ε+1). The report is the bit and the
// seed of the hash function.
//
// # Privacy
//
// The hash function does not depend on the data. Given the hash function, the report is
// a bit with probabilities between 1/(e^ε+1) and e^ε/(e^ε+1): ε-LDP. The probabilities
// are ratios of integers (package fl/exact), and the tests enumerate small domains.
// The privacy blanket with s = 1 and t = 2 covers the shuffled reports.
//
// # Estimation
//
// E[bit·σ_j] = x_j·ρ·(e^ε−1)/(e^ε+1). Here ρ is the probability that one of the s
// signed values agrees with their majority, minus the probability that it does not. For
// c ≠ 0 exactly half of all 2^m labels have each sign. So the signs of the s coordinates
// are drawn without replacement from 2^m balanced values, and ρ is a hypergeometric sum
// (function agreement). It tends to C(s−1, ⌊(s−1)/2⌋)/2^(s−1) as m grows. (c = 0 has
// probability 2^−m and moves ρ by no more than that.)
//
// The estimator is the bit times σ_j times (e^ε+1)/((e^ε−1)·ρ). In the server it is one
// addition per report into a Walsh spectrum, at place c, and one transform per round.
//
// Within one round the labels are fixed. Products of an odd number of signs can alias
// the sign of another coordinate. If all clients hold the same vector, the estimate of a
// coordinate is off by a relative error of standard deviation about √(0.57·s/2^m). The estimate of
// a coordinate that nobody holds is off by as much, in units of the scale. The error is zero on
// average over rounds. m is chosen such that the error is below 1 %: 2^m ≥ 5700·s. A larger m costs
// only memory. Standard errors contain the error, as far as the mean shows that clients are alike
// (function aliasing).
//
// Source: Wang et al. compare with dense one-bit mechanisms. Randomized response is
// Warner's (1965). The sign sketch below it comes from Charikar, Chen, Farach-Colton (2002).
package signsketch
