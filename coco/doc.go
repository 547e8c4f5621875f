// Package coco is the CoCo mechanism (correlated collision) for the mean of
// sparse ternary vectors under ε-local differential privacy: Wang et al.,
// "Differentially Private Numerical Vector Analyses in the Local and Shuffle
// Model", Algorithms 1 and 2.
//
// # Mechanism
//
// A client holds exactly s signed coordinates. Its hash function puts every
// coordinate into one of t/2 pairs of slots and decides which slot of the pair
// stands for +; the other stands for −. The client's items mark slots: the
// item's own slot gets the weight e^ε, its partner the weight 1, and when two
// coordinates share a pair, the one that comes last in a uniformly random order
// wins. With p distinct marked pairs every slot outside them has the weight
//
//	w = (Ω − p·(e^ε+1))/(t − 2p),   Ω = s·e^ε + t − s,
//
// and the report is one slot, drawn in proportion to the weights, together with
// the seed of the hash function. The correlation of the two signs is what CoCo
// adds to Collision: the partner of a likely slot is as unlikely as a slot can be.
//
// # Privacy
//
// The weights always sum to Ω and lie in [1, e^ε]: for t ≥ 2s,
//
//	w − 1 = (s−p)(e^ε−1)/(t−2p) ≥ 0   and   w ≤ (e^ε+1)/2,
//
// because (s−p)/(t−2p) ≤ 1/2. So any two inputs give any report with
// probabilities within a factor e^ε, whatever the hash function, and for p = s
// and t = 2s no slot is left over. On a computer the weights are integers,
// rounded so that the factor is never exceeded (package internal/exact); the
// tests prove the bound by enumerating all inputs, all hash functions and all
// random choices of this code on small domains.
//
// # Accuracy
//
// [MSE] is the exact squared error, and [BestSlots] the t that minimises it. At
// small ε that is t = 2s, where every pair has the same weight: such a round tells
// the mean only. [BestSlotsForSupport] serves rounds that ask for more.
// The round's parameters are sparsity (required), slots and hash; fl.Open needs
// all three and fl.Complete fills the last two.
package coco
