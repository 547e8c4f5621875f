// Package sparsetest proves and measures sparse mechanisms. Use it in the tests of a mechanism
// that package sparse describes; only tests import it. Start with [Prove] and [Measure].
//
// Prove shows ε-LDP on small domains by exhaustion: all inputs, all hash functions, all
// random choices of the real code, exact rational probabilities. Measure compares what the
// real encoder and aggregator return with the exact formulas.
package sparsetest
