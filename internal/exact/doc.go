// Package exact keeps the promises of randomizers exact on a computer: slot
// weights that are integers, random choices that are uniform integers, and a
// way to enumerate every choice a randomizer can make with its exact rational
// probability.
package exact
