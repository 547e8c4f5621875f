// Package privunit is PrivUnitG for dense gradients, registered as "privunitg". Use it to compare
// with the best known ε-LDP mean of unit vectors, but never deploy it. Import the package
// for its effect and start with a round of the mechanism [Name].
//
// It is optimal up to constants: Asi, Feldman and Talwar, Optimal Algorithms for Mean
// Estimation under Local Differential Privacy, ICML 2022.
//
// # Mechanism
//
// The paper's inputs are unit vectors. A gradient x, clipped to the L2 norm C = Scale, becomes
// one by a coordinate more: u = (x, √(C² − ‖x‖²))/C in D = dim+1 dimensions. The
// client draws a length A, which is a normal variable U conditioned on U ≥ z with probability
// p, and on U < z otherwise, and a normal vector V orthogonal to u. The report is the first
// dim coordinates of
//
//	R = C·(A·u + V)/s,   s = E[A] = φ(z)·(p/(1−q) − (1−p)/q),   q = P[U < z],
//
// so that E[R] = C·u, the gradient. To leave the last coordinate out is post-processing.
//
// # Privacy
//
// For every u, the density of R before scaling, at r, is the normal density times p/(1−q) where
// r·u is above the threshold, and times (1−p)/q elsewhere. Any two gradients' densities are
// thus within
//
//	p/(1−p)·q/(1−q) ≤ e^ε
//
// of one another. A report is ε-LDP, replace-one, without δ. p is a fraction of 2^62, drawn from
// integers, and rounded down by more than the error of the q that was computed.
//
// The rest of the argument is about real numbers. This is the only such mechanism of the
// module. Its reports come from floating-point normal variables and have finitely many
// values, which are not the same for different gradients. An attacker that knows
// which values are possible learns more than ε says. Mironov, On Significance of the Least
// Significant Bits for Differential Privacy, CCS 2012, does so for Laplace noise, and Jin,
// McMurtry, Rubinstein and Ohrimenko, Are We There Yet? Timing and Floating-Point Attacks on
// Differential Privacy Systems, IEEE S&P 2022, for normal noise. Compare with it; do not
// deploy it.
//
// Guarantee().RealNumbers is true therefore. fl.Policy refuses the round unless a client
// accepts that, package verify reports a broken promise, and compose.Reports and ledgers refuse
// the guarantee.
//
// # Accuracy and cost
//
// The squared error of a report is [Error], C²·((D + z·s)/s² − 1) for the z that minimises it.
// The standard error of the mean of n reports is C/(s·√n) in every coordinate.
// Encode takes dim normal variables, about 10 ns each, and Add 1 ns for a coordinate. A report
// has 4·dim bytes, float32, little-endian, and a snapshot 8·dim. Shuffled is the
// bound of privacy.Clone. Scale is in [2^−60, 2^60], ε at least [MinEpsilon], Round.Delta 0,
// and the round has no other parameters.
package privunit
