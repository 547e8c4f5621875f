// Package compose computes what several private mechanisms promise together.
// Use it when one client takes part in several rounds, or to split a budget over rounds.
// Start with [Reports] for rounds of this module and with [Homogeneous] for equal budgets.
//
//	round, err := compose.Shuffled(ctx, 1, 4, 17, 10_000, compose.Options{}) // one round of 10^4 clients
//	all, err := round.Compose(1000)                                          // a client takes part in 1000
//	eps, err := all.Epsilon(ctx, 1e-6)                                       // eps.Lower <= ε <= eps.Upper
//
// # Which function
//
// The functions differ in what they know of a mechanism. More knowledge gives a smaller ε.
//
//   - [Basic] and [SumUp] add up the ε and the δ. They suit a few mechanisms, pure budgets
//     without δ, and checks by hand.
//   - [Advanced] is the textbook bound for many mechanisms with one budget (ε, δ). It is here
//     for comparisons with papers.
//   - [Homogeneous] is the best bound for mechanisms with one budget (ε, δ) if nothing else is
//     known of them. [PerMechanism] is its inverse: the budget of one mechanism for a given total.
//   - [Distribution] knows the whole curve δ(ε) of each mechanism. The mechanisms may differ.
//     It is the best choice for Gaussian noise and for shuffled rounds. [Pure], [Approximate],
//     [Gaussian], [DiscreteLaplace], [Shuffled], [FromCurve] and [Reports] make the distribution
//     of one mechanism, [Distribution.Compose] and [Distribution.Then] compose, and
//     [Distribution.Epsilon] and [Distribution.Delta] return the bounds. [Compose] does all of
//     this for a list of [Event].
//
// Each mechanism may be chosen in view of what earlier ones have shown. The budgets and curves
// themselves are fixed in advance. If they depend on earlier reports too, use a privacy filter:
// package ledger has some.
//
// # Rounding
//
// Every result is rounded against the promise. Sums and products of budgets (Basic, SumUp, and
// the ones within Homogeneous) are exact and rounded up once. All other results are raised by a
// bound on their rounding errors, as stated at each function.
//
// Errors about parameters wrap a *fl.ParamError.
//
// # Neighbours
//
// The rest of this comment is about [Distribution]. A mechanism has output laws P and Q on two
// neighbouring inputs, and its curve is
//
//	δ(ε) = sup_S P(S) − e^ε·Q(S) = E_P[(1 − e^{ε−L})_+],    L = log(dP/dQ).
//
// All mechanisms here are symmetric: (Q, P) has the same curve, so that
// δ(−ε) = 1 − e^{−ε}(1 − δ(ε)) and the curve for ε >= 0 is all there is. This holds under
// replacement of one client's input. It holds for noise with a symmetric law under any
// neighbouring relation. It does not hold for subsampling with clients added or removed.
// A client in k of the T rounds composes k times. Mechanisms may be chosen adaptively, as long
// as each has the stated curve whatever came before.
//
// # Bounds
//
// The methods return [Bounds]. Upper is the guarantee: it is never below the truth. Lower shows
// how much of Upper is due to discretisation, truncation and rounding. Some mechanisms are known
// by an upper bound on their curve only (Shuffled, FromCurve). For them Lower refers to that
// curve, not to the mechanism.
//
// # Method
//
// A pair of laws that has the higher curve at every ε dominates, and domination survives
// adaptive composition (Zhu, Dong and Wang, AISTATS 2022, Theorem 10). Over q = e^ε a curve
// is convex. Any convex curve from 1 at q = 0 that is never below 1 − q and does not
// rise belongs to a pair of laws.
//
// From above, the curve is replaced by its chords between points of the grid step·k
// (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, Connect the Dots, PETS 2022). This is
// the lowest curve on that grid. Where a given curve is not convex its convex hull is used,
// which is still above the truth. From below, a curve is first replaced by one below all convex
// curves through the same points. Then neighbouring outcomes are merged into groups whose common
// loss is a grid point. Both steps change a loss by at most a few grid steps with nearly
// no change of its mean, so that the error in ε is of order k·step², not k·step.
//
// The laws of sums are computed by fast Fourier transform (Koskela, Jälkö and Honkela,
// AISTATS 2020) of exponentially tilted laws: masses times e^{θ·loss}, normalised, with θ
// such that the tilted mean is at the ε in question. Transforms err by about 10^-16 of the
// total mass. The tilt makes this an error relative to the Chernoff bound on δ(ε) and not to 1. So δ
// of any size is reliable, down to Infinite(): there are about 10^-18 per mechanism of cut tails.
// Where the sum is so smooth that some hundred frequencies make up its law, only those are computed.
// What the others can do is bounded, and added. Four errors are bounded, added to Upper and taken from Lower: rounding of the
// transforms, rounding of all sums, the probability outside the window of the transform, and
// losses that count as on the grid.
//
// Times with default options on one core: a query about 1000 rounds of Gaussian noise takes 5 to
// 30 ms, with errors below 10^-3 in ε. A lattice of losses (Pure, Approximate, DiscreteLaplace
// alone) takes milliseconds, with errors below 10^-6. The loss of one shuffled round of up to 10^4
// clients takes up to 0.1 s. What can take longer than 0.2 s has a context as its first parameter. It
// asks the context between the points of a curve and between passes over the grid. One pass takes
// milliseconds, and up to half a second on the largest grids. A query computes its two bounds at the same time.
package compose
