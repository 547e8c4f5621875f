// Package hetero averages the data of clients that ask for different amounts of privacy. Use
// it where a trusted server sees the data; package tiers is for clients that trust no
// server. Start with [Saturating] and [NewMean].
//
// The estimators come from Chaudhuri, Courtade, "Empirical Mean and Frequency Estimation
// Under Heterogeneous Privacy: A Worst-Case Analysis".
//
// # Model
//
// The model is central: a trusted server sees the data and publishes one noisy
// average. Client i asks for ε_i in [MinEpsilon, MaxEpsilon], or for +Inf when its data is
// public. For each client alone, replacing its own value by any other changes the
// probability of no output by more than a factor e^ε_i.
//
// The demands themselves, the weights and the number of clients are public. A client that must
// hide how much privacy it asks for cannot take part.
//
// # Weights
//
// The average is Σ w_i·X_i with weights w ≥ 0 of sum 1, plus Laplace noise of
// scale ‖w/ε‖_∞. Weights far from 1/n bias the average. Weights close to 1/n
// let the most careful client dictate the noise.
//
// [Correlated] and [Uncorrelated] are optimal for the paper's two worst cases: demands that
// may depend on the data, and demands that do not. [Saturating] is the choice when in doubt. It
// needs no parameter, and no weight depends on another client's demand except through
// the sum. [Turbo] is the paper's fast surrogate. [Uniform] and [Proportional] are
// baselines, as are the estimators [Sampling] and [Local], which has the weights of
// [LocalCorrelated] and [LocalUncorrelated].
//
// For histograms the published factors [PACFactor] and [MSEFactor] weigh the noise too
// little. The factors of [HistogramPACFactor] and its siblings have the constants of the
// bounds. The experiment table4-hetero compares the factors. Correlated is for the worst case.
// Where demands and values have little to do with one another, weights that risk some bias are
// more accurate, Saturating's weights above all.
//
// All optimal weights are proportional to min(ε_i, ρ) for some ρ. For a fixed
// noise scale the best weights are a water-filling, and the optimal scale is a
// root of a piecewise linear equation in the sums of the smallest demands. It is
// solved in closed form after sorting. Sums have terms of one sign. The one
// difference, of 1/v and the truncated demands, is at least 1/n of its parts. So
// demands may differ by any factor.
//
// # Limits
//
// [CorrelatedLowerBound] and [UncorrelatedLowerBound] return an error below which no mechanism
// with the same demands can stay on every data set, whatever its weights. On the data at hand an
// estimate may well be more accurate. [UncorrelatedBounds] adds an error that the weights of
// [Saturating] stay below, for demands of at most 1.
//
// # Privacy on a computer
//
// Weights become integers, the data integers below them, and the noise is a
// discrete Laplace variable whose law is exact: see [Noise].
package hetero
