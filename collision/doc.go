// Package collision estimates item frequencies and means of sparse ternary vectors. Use it for
// frequencies at large ε, and as the simpler relative of coco. Start with a round with the
// mechanism "collision". [Scheme] computes the error of such a round.
//
// A report has about six bytes. It is ε-locally differentially private.
//
// Collision is Definition 5 of Wang et al., "Differentially Private Numerical Vector
// Analyses in the Local and Shuffle Model".
//
// # Mechanism
//
// A client holds s items, each a coordinate with a sign. Its hash function puts
// all items into t slots. Its own items fall into the set S of c = |S| slots. The
// report is the seed of the hash function and one slot z, with
//
//	P[z] = e^ε/Ω for z in S,   P[z] = (Ω − c·e^ε)/((t−c)·Ω) otherwise,
//	Ω = s·e^ε + t − s.
//
// # Privacy
//
// For t > s the weight outside S, ((s−c)·e^ε + t − s)/(t − c), is an average of
// s−c weights e^ε and t−s weights 1, so it lies in [1, e^ε]. Any two inputs give
// any report with probabilities within a factor e^ε, whatever the hash function.
//
// On a computer the weights are integers. They are rounded so that the factor is
// never exceeded (package fl/exact). The tests prove the bound by enumerating
// all inputs, all hash functions and all random choices of this code on small domains.
//
// # Accuracy
//
// An item that the client holds is hit with probability P_t = e^ε/Ω exactly. Any other
// item is hit with P_f = 1/t for an ideal hash, and nearly that for the linear family
// (sparse.HashFamily derives it). The tests enumerate both for the ideal hash. Scheme.MSE and Scheme.ItemMSE are the exact
// squared errors of means and item frequencies. Scheme.BestSlots and
// Scheme.BestSlotsForItems return the t that minimises them.
//
// The round's parameters are sparsity (required), slots and hash. fl.Open needs all three.
// fl.Complete fills the last two.
package collision
