// Package sparse is what CoCo, Collision and SignSketch have in common: parameters,
// reports, counts and estimates of sparse ternary vectors. Use it to ask for the exact
// error of such a mechanism before a round. Start with [Point] and the methods of
// [Scheme]; coco.Scheme, collision.Scheme and signsketch.Scheme are the three there are.
//
//	p := sparse.Point{Dim: 7850, Sparsity: 64, Epsilon: 5, Hash: sparse.HashGF2}
//	p.Slots, err = coco.Scheme.BestSlots(p)
//	mse, err := coco.Scheme.MSE(p) // of one report; divide by the number of reports
//
// A report of such a mechanism is the seed of a hash function and one slot. Every hash
// function sends the 2·dim signed coordinates ("items") to slots. The client reports the
// slots of its own items with a larger probability than other slots, and the aggregator
// counts, for every item, how many reports hit its slot. Linear formulas turn the counts
// into unbiased estimates ([Calibration]).
//
// # Standard errors
//
// Intervals of 1.96 standard errors cover at least 93 % of the coordinates of a round, from the
// first report on: of all coordinates, and of the few that clients hold. Few hits look more
// certain than they are, so that variances count three hits more than were seen. With few
// hits the intervals are longer than they would have to be, by 2 to 7 times for a single report
// and by a quarter at most for a hundred. Standard errors of the sign sketch contain the error
// of the round's labels, which does not fall with the number of reports.
//
// The columns frequency, plus and minus have the same. docs/results/sparse-vectors.md has the shares that
// go run ./bench coverage measures.
package sparse
