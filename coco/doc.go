// Package coco estimates the mean of sparse ternary gradients, or frequencies and means of
// key-value pairs. Use it as the default mechanism for gradients. Start with a round with the
// mechanism "coco". [Scheme] computes the error of such a round.
//
// A report has about six bytes. It is ε-locally differentially private.
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
// The client's items mark slots. The item's own slot gets the weight e^ε, and its
// partner gets the weight 1. When two coordinates share a pair, the one that comes last
// in a uniformly random order wins. With p distinct marked pairs every slot outside
// them has the weight
//
//	w = (Ω − p·(e^ε+1))/(t − 2p),   Ω = s·e^ε + t − s,
//
// The report is the seed of the hash function and one slot, drawn in proportion to
// the weights. The correlation of the two signs is what CoCo adds to Collision: the
// partner of a likely slot is as unlikely as a slot can be.
//
// # Privacy
//
// The weights always sum to Ω and lie in [1, e^ε]: for t ≥ 2s,
//
//	w − 1 = (s−p)(e^ε−1)/(t−2p) ≥ 0   and   w ≤ (e^ε+1)/2,
//
// because (s−p)/(t−2p) ≤ 1/2. So any two inputs give any report with
// probabilities within a factor e^ε, whatever the hash function. For p = s
// and t = 2s no slot is left over.
//
// On a computer the weights are integers. They are rounded so that the factor is
// never exceeded (package fl/exact). The tests prove the bound by enumerating
// all inputs, all hash functions and all random choices of this code on small domains.
//
// # Accuracy
//
// A report hits the slot of an own item, of the same coordinate with the opposite sign, or of another item with
// the probabilities of the paper's Lemma 3 ([sparse.Calibration]). The tests enumerate the probabilities for the
// ideal hash. Package sparse/slothash derives the linear family's probabilities.
//
// Scheme.MSE is the exact squared error, and Scheme.BestSlots the t that minimises it. At small ε that
// is t = 2s. Every pair then has the same weight, and the round estimates the mean only.
// Scheme.BestSlotsForFrequency serves rounds that ask for more.
//
// The round's parameters are sparsity (required), slots and hash. fl.Open needs all three.
// fl.Complete fills the last two.
package coco
