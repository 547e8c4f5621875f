// Package compose composes mechanisms by their privacy-loss distributions.
//
//	round, err := compose.Shuffled(1, 4, 17, 10_000, compose.Options{})  // one round of 10^4 users
//	all, err := round.Compose(1000)                              // a user takes part in 1000
//	eps, err := all.Epsilon(1e-6)                                // eps.Lower <= ε <= eps.Upper
//
// Upper is the guarantee: it is never below the truth. Lower says how much of Upper is due
// to discretisation, truncation and rounding. For mechanisms known by an upper bound on
// their curve (Shuffled, FromCurve) Lower refers to that curve, not to the mechanism.
//
// # Neighbours
//
// A mechanism has output laws P and Q on two neighbouring inputs, and its curve is
//
//	δ(ε) = sup_S P(S) − e^ε·Q(S) = E_P[(1 − e^{ε−L})_+],    L = log(dP/dQ).
//
// All mechanisms here are symmetric: (Q, P) has the same curve, so that
// δ(−ε) = 1 − e^{−ε}(1 − δ(ε)) and the curve for ε >= 0 says everything. This holds under
// replacement of one user's input, and for noise with a symmetric law under any neighbouring
// relation; it does not hold for subsampling with users added or removed. A client in k of
// the T rounds composes k times. Mechanisms may be chosen adaptively, as long as each has the
// stated curve whatever came before.
//
// # Method
//
// If one pair has the higher curve at every ε it dominates, and domination survives
// adaptive composition (Zhu, Dong and Wang, AISTATS 2022, Theorem 10). Over q = e^ε a curve
// is convex, and any convex curve from 1 at q = 0 that is never below 1 − q and does not
// rise belongs to a pair of laws.
//
// From above, the curve is replaced by its chords between points of the grid step·k
// (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022), which is
// the lowest curve on that grid. Where a given curve is not convex its convex hull is used,
// which is still above the truth. From below, neighbouring outcomes are merged into groups
// whose common loss is a grid point, after a curve has been replaced by one below all convex
// curves through the same points. Both change a loss by at most a few steps with nearly
// no change of its mean, so that the error in ε is of order k·step², not k·step.
//
// The laws of sums are computed by fast Fourier transform (Koskela, Jälkö and Honkela,
// AISTATS 2020) of exponentially tilted laws: masses times e^{θ·loss}, normalised, with θ
// such that the tilted mean is at the ε in question. Transforms err by about 10^-16 of the
// total mass; the tilt makes this an error relative to the Chernoff bound on δ(ε) and not to
// 1. So δ of any size is reliable, down to Infinite(): there are about 10^-18 per mechanism of
// cut tails. Rounding of the transforms and of all sums, the probability outside the window
// of the transform and losses that count as on the grid are bounded and added to
// Upper and taken from Lower.
//
// Times with default options on one core: 1000-fold composition takes 0.1 to 0.8 s per
// query for losses up to 100, with errors below 10^-3 in ε; a lattice of losses (Pure,
// Approximate, DiscreteLaplace alone) takes milliseconds, with errors below 10^-6.
package compose
