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
// Intervals of 1.96 standard errors around the mean cover at least 93 % of the coordinates of a
// round, from the first report on. Few reports do not show their own variance. While fewer than
// six of them are expected to hit a coordinate that all clients hold, standard errors are upper
// bounds. Those of the sign sketch contain the error of the round's labels, which does not
// fall with the number of reports.
//
// The table has the least share of covered coordinates, in percent and rounded down, that
// TestFewReportsAreCovered measures. All clients hold the same vector of 60 coordinates, with
// s = 8 at ε = 0.5, 3 and 6, and with s = 1 at ε = 6. In brackets is the share of the
// coordinates that they hold.
//
//	reports          1            2           10          100
//	coco       100 (100)    100  (99)     97  (99)    96 (88)
//	t = 2s     100 (100)    100 (100)     97  (98)    94 (95)
//	collision  100 (100)    100 (100)    100  (97)    96 (89)
//	signsketch 100 (100)    100 (100)     97  (94)    94 (95)
//
// The coordinates that clients hold are few among many. In coco and collision those with few
// hits look more certain than they are: 88 to 93 % are covered where each has a dozen hits. From
// 2000 reports on it is 94 % or more.
package sparse
