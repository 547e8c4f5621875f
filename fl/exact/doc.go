// Package exact keeps the promises of randomizers exact on a computer.
// Use it wherever a randomizer of a mechanism takes a random decision.
// Start with [NewWeights] and [Chooser], and with [Enumerate] in tests.
//
// Slot weights are integers, so that no probability is rounded the wrong way: [Weights].
// Random choices are uniform integers: [Rand]. Every choice that a randomizer can make is
// enumerated with its exact rational probability: [Enumerate].
package exact
