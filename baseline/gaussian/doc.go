// Package gaussian is the dense Gaussian mechanism in the local model, registered as
// "gaussian". Use it to compare with what most people try first. Import the package
// for its effect and start with a round of the mechanism [Name].
//
// # Mechanism
//
// A client clips its gradient to the L2 norm Scale and adds normal noise of standard
// deviation σ to every coordinate. Any two clipped gradients are at most 2·Scale apart. The
// report is (ε, δ)-differentially private against everybody, replace-one. [Sigma] returns σ, the
// least there is: Balle and Wang, Improving the Gaussian Mechanism for Differential Privacy:
// Analytical Calibration and Optimal Denoising, ICML 2018, Theorem 8 and Algorithm 1.
// Round.Delta is δ, in (0, 1). The round has no other parameters.
//
// # Exactness
//
// A report is floor((x + noise)/u) in every coordinate for u = σ/2036.5. The clipped
// gradient is first truncated to multiples of u/32, towards 0, which does not lengthen it.
// The floor is then a function of the continuous mechanism's output. It is drawn
// from tables of integers (package internal/rounded) and never computed from a
// floating-point normal variable, because those leak. See Mironov, On Significance of the Least
// Significant Bits for Differential Privacy, CCS 2012. The tables' law is within t =
// 2^−94 of the true one in total variation, per coordinate. The guarantee is the
// continuous one's with (1+e^ε)·dim·t added to δ, and σ accounts for that.
//
// # Accuracy and cost
//
// The mean of n reports has the standard error σ/√n in every coordinate, more by 2·10^−8 of
// itself for the floor. It is unbiased for the mean of the truncated gradients, whose
// coordinates are off by less than σ/65000. Encode and Add take O(dim) time, about 10 ns
// for a coordinate. A report has 2·dim bytes and a snapshot about 4·dim.
//
// It is no fl.Amplifier. The bounds of package privacy on shuffled reports are for
// randomizers of pure ε, and do not hold for this one.
package gaussian
