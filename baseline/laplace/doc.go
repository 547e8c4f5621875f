// Package laplace is the dense Laplace mechanism in the local model, registered as "laplace".
// Use it to compare with the textbook way to ε-LDP gradients. Import the package for
// its effect and start with a round of the mechanism [Name].
//
// # Mechanism
//
// A client clips its gradient to the L1 norm Scale, rounds it to a grid and adds
// two-sided geometric noise, the Laplace law on a grid, to every coordinate: Dwork,
// McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in Private Data Analysis,
// TCC 2006; Ghosh, Roughgarden and Sundararajan, Universally Utility-Maximizing Privacy
// Mechanisms, STOC 2009. Any two clipped gradients are at most 2·Scale apart. The
// report is ε-differentially private against everybody, replace-one. ε is at least
// [MinEpsilon], Round.Delta is 0, and the round has no other parameters.
//
// # Exactness
//
// The grid has B = ⌈128ε⌉ steps to Scale. A coordinate becomes an integer k_j, which is
// x_j·B/Scale on average, by dithering that keeps Σ|k_j| ≤ B. The noise is m or −m−1, and a fair
// coin decides which. m is drawn from a table of integers. Its neighbours differ by a factor
// of at most e^(ε/(2B)), certified by rational arithmetic. Two gradients give any
// report with probabilities within e^(ε·Σ|k_j−k'_j|/(2B)) ≤ e^ε of one another, to the last
// bit. Only the client's gradient itself depends on floating-point numbers. The sums are clamped to
// 16 bits, after the noise, with probability below 10^-35.
//
// # Accuracy and cost
//
// The mean of n reports is unbiased for the mean of the clipped gradients, with the standard
// error (2√2·Scale/ε)/√n in every coordinate, and at most 10^−5 of itself more.
// Encode and Add take O(dim) time, about 8 ns for a coordinate. A report has 2·dim bytes and a
// snapshot about 4·dim. Shuffled is the bound of privacy.Clone.
package laplace
