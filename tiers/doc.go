// Package tiers lets the clients of one round choose their own ε from a menu. It is
// registered as "tiers" and runs a local mechanism once per tier.
//
// A round's Epsilon is the largest ε of the menu, and its parameters are
//
//	base    the local mechanism, for example "coco"
//	menu    the ε on offer, increasing, separated by commas: "0.5,2,8"
//	radius  how far the means of the tiers' clients may lie from one common mean, per
//	        coordinate and in units of Scale; 0 says that the choice of ε has nothing to
//	        do with the data
//
// and all parameters of the base mechanism that hold for every tier; what depends on
// ε, such as the number of slots, is chosen per tier. A report is one byte for the tier
// and the base mechanism's report. Which tier a client chose is public.
//
// The server keeps one aggregator per tier. The estimate is the weighted mean of the
// tiers' means, by [hetero.Combine] with the tiers' shares of the reports and the
// variances that their standard errors say. With radius 0 it is unbiased and has the
// smallest variance. Otherwise the weights also keep near the shares, because
// clients who ask for more privacy may differ from the others, and the standard errors
// hold for the mean weighted as the estimate says.
//
// Source: Chaudhuri and Courtade, "Empirical Mean and Frequency Estimation Under
// Heterogeneous Privacy: A Worst-Case Analysis", for the trade-off; the tiers are the
// local-model counterpart.
package tiers
