// Package collision is the Collision mechanism for item frequencies and means
// of sparse ternary vectors under ε-local differential privacy: Wang et al.,
// "Differentially Private Numerical Vector Analyses in the Local and Shuffle
// Model", Definition 5.
//
// # Mechanism
//
// A client holds s items, each a coordinate with a sign. Its hash function puts
// all items into t slots; S is the set of slots its own items fall into and
// c = |S|. The report is the seed of the hash function and one slot z, with
//
//	P[z] = e^ε/Ω for z in S,   P[z] = (Ω − c·e^ε)/((t−c)·Ω) otherwise,
//	Ω = s·e^ε + t − s.
//
// # Privacy
//
// For t > s the weight outside S, ((s−c)·e^ε + t − s)/(t − c), is an average of
// s−c weights e^ε and t−s weights 1, so it lies in [1, e^ε]. Any two inputs give
// any report with probabilities within a factor e^ε, whatever the hash function.
// On a computer the weights are integers, rounded so that the factor is never
// exceeded (package internal/exact); the tests prove the bound by enumerating
// all inputs, all hash functions and all random choices of this code on small
// domains.
//
// # Accuracy
//
// An item the client holds is hit with probability P_t = e^ε/Ω exactly, any
// other with P_f = 1/t for an ideal hash and nearly that for the linear family
// (package internal/slothash derives it). [MSE] and [FrequencyMSE] are the exact
// squared errors and [BestSlots] and [BestSlotsForFrequency] the t that minimise
// them. The round's parameters are sparsity (required), slots and hash.
package collision
