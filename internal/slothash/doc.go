// Package slothash holds the public hash functions of Collision and CoCo: how
// a client's items fall into slots, and how the server counts, for every item,
// the reports whose slot it falls into.
//
// An item is a coordinate with a sign. A [Layout] says how its slot follows
// from hashed keys, a [Family] supplies the hash functions. A report names one
// function of the family by a 32-bit seed and one slot.
//
// Privacy does not depend on the family: the randomizers are ε-LDP for every
// single function. The family decides accuracy (its calibration) and speed.
package slothash
