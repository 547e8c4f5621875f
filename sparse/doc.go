// Package sparse is the shared code of CoCo, Collision and SignSketch, which are locally private
// mechanisms for sparse ternary vectors. Use it to ask for the exact error of such a mechanism before
// a round. Start with [Point] and the methods of [Scheme]: coco.Scheme, collision.Scheme and
// signsketch.Scheme are the three there are.
//
//	p := sparse.Point{Dim: 7850, Sparsity: 64, Epsilon: 5, Hash: sparse.HashGF2}
//	p.Slots, err = coco.Scheme.BestSlots(p)
//	mse, err := coco.Scheme.MSE(p) // of one report; divide by the number of reports
//
// A report of such a mechanism is the seed of a hash function and one slot. Every hash
// function sends the 2·dim signed coordinates ("items") to slots. The client reports the
// slots of its own items with a larger probability than other slots, and the aggregator
// counts, for every item, how many reports hit its slot. Linear formulas turn the counts
// into unbiased estimates ([Calibration]). A [HashFamily] is a set of hash functions, and its
// [Chances] are the probabilities that items hit one slot.
//
// # Standard errors
//
// Intervals of 1.96 standard errors cover at least 93 % of the coordinates of a round, from the
// first report on: of all coordinates, and of the few that clients hold. The variance is computed
// as if each item had three hits more than were seen. Without them an item with few hits would have
// too small a standard error. So the intervals of small rounds are longer than they have to be.
// With the best number of slots, intervals of coco and collision are 4 to 7 times as long as they
// have to be in a round of one report, and at most a quarter longer in a round of a hundred. For
// coco with t = 2s and for the sign sketch they can be more than twice as long at a hundred
// reports, and far longer at one report. The sign sketch has another error, from the round's public
// random labels of the coordinates. Its standard errors contain this error. It does not fall with the
// number of reports.
//
// Standard errors of the columns frequency, plus and minus are computed in the same way.
// docs/results/sparse-vectors.md lists how many of the mean's coordinates the intervals cover. go
// run ./bench coverage measures them.
package sparse
