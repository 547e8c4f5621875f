// Package coco estimates the mean of sparse ternary gradients, or frequencies and means of
// key-value pairs. Use it for gradients with few large coordinates. The mechanism "auto" takes coco
// where coco's error is the smallest error of all mechanisms. Start with a round with the mechanism
// "coco". [Scheme] computes the error of such a round.
//
// A report has about six bytes. The mechanism is ε-locally differentially private, with δ = 0.
//
// CoCo is short for correlated collision: Wang et al., "Differentially Private Numerical
// Vector Analyses in the Local and Shuffle Model", Algorithms 1 and 2.
//
// # Mechanism
//
// A client holds exactly s signed coordinates, its items. Its hash function puts every
// coordinate into one of t/2 pairs of slots. It also decides which slot of the pair
// stands for +. The other slot stands for −.
//
// The client's items mark slots. An item's slot gets the weight e^ε, and the other slot of the pair
// gets the weight 1. When two coordinates share a pair, the one that comes last in a uniformly
// random order wins. With p distinct marked pairs every slot outside them has the weight
//
//	w = (Ω − p·(e^ε+1))/(t − 2p),   Ω = s·e^ε + t − s,
//
// The report is the seed of the hash function and one slot, drawn in proportion to the weights. In
// package collision the slot of an item's opposite sign is drawn independently. In CoCo it is the
// partner of the item's slot, and has the smallest weight that a slot can have. This is the
// correlation in the name.
//
// # Privacy
//
// The weights always sum to Ω and lie in [1, e^ε]: for t ≥ 2s,
//
//	w − 1 = (s−p)(e^ε−1)/(t−2p) ≥ 0   and   w ≤ (e^ε+1)/2,
//
// because (s−p)/(t−2p) ≤ 1/2. So two inputs give the same report with probabilities that differ at
// most by a factor e^ε, for every hash function. For p = s and t = 2s no slot is left over.
//
// On a computer the weights are integers. They are rounded so that the factor is never exceeded
// (package fl/exact). On small domains the tests enumerate all inputs, all hash functions and all
// random choices of this code, and prove the bound there. Elsewhere it follows from the formula
// above.
//
// # Accuracy
//
// A report hits the slot of an own item, of the same coordinate with the opposite sign, or of another item with
// the probabilities of the paper's Lemma 3 ([sparse.Calibration]). The tests enumerate the probabilities for the
// ideal hash. Type sparse.HashFamily derives the linear family's probabilities.
//
// Scheme.MSE is the exact squared error, and Scheme.BestSlots the t that minimises it. At small ε that
// is t = 2s. Every pair then has the same weight, and the round estimates the mean only.
// Scheme.BestSlotsForFrequency serves rounds that ask for more.
//
// The round's parameters are sparsity (required), slots and hash. fl.Open needs all three.
// fl.Complete fills the last two.
package coco
