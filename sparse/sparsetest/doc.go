// Package sparsetest proves and measures sparse mechanisms. [Prove] shows ε-LDP
// on small domains by exhaustion: all inputs, all hash functions, all random
// choices of the real code, exact rational probabilities. [Measure] compares
// what the real encoder and aggregator give with the exact formulas. Only tests
// import it.
package sparsetest
