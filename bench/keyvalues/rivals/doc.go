// Package rivals has the mechanisms over key-value pairs that the papers compare with PCKV, CoCo and
// Collision. Use it to compare a mechanism of your own with them. Import the package for its effect and
// start with a round of [PrivKV] or [Succinct].
//
//	privkv     PrivKV    one key of each client
//	privkvm    PrivKVM   PrivKV's means again, from several rounds
//	kvue       KVUE      one key of each client, in unary code
//	succinct   Succinct  all keys of a client in one sum; the mean only
//
// "pckv-ternary" ([PCKVTernary]) is PCKV on dense gradients. A [Budget] is what PCKV's paper splits ε into, in
// three ways.
//
// The package is the laboratory's: package mechanisms does not register its names, and the commands
// do not know them. A server, a client or a test that imports the package does. The comments of the
// names say how each mechanism works, what it promises and what a report's bytes are. Package
// keyvalue describes pairs and columns, and has the mechanisms that are the most accurate ones.
package rivals
