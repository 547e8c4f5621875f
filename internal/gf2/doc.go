// Package gf2 is the linear algebra over GF(2) behind the fast hash family. Use it for random
// labels of keys, for random affine maps of full rank that expand from a 32-bit seed, and for
// the set of labels that a map sends to one value. Start with [Labels], [Expander] and [Cosets].
//
// Vectors of up to 32 bits are uint32. The product of a matrix and a label is a parity per
// row.
//
// # Labels of many keys
//
// A drawn table of 2^24 labels takes seconds to draw, and memory for as long as a round is open. From
// 2^17 labels on they come from a Feistel network of 8 rounds (Luby and Rackoff, "How to
// construct pseudorandom permutations from pseudorandom functions", SIAM Journal on Computing
// 17(2), 1988). Its round functions are drawn in full, so that what follows needs no
// assumption beyond that the numbers of ChaCha8 are uniform.
//
//   - The label of a key is exactly uniform.
//   - The labels of two keys, whatever the keys, are a uniform pair up to 2^(−3·⌊m/2⌋) in total
//     variation: 2^−24 at m = 17, 2^−36 at m = 24. Only the difference of the two matters.
//     A half of it stays or becomes uniform in each round, by whether the other half is 0, which
//     gives the law exactly. A test computes it, and compares it with all networks of 2 bits.
//   - Tests compare triples and quadruples of structured keys with the uniform law: keys in close
//     order, keys that differ in one bit, keys whose sum modulo 2 is 0.
//
// The map A of a report is uniform of full rank, and treats all sets of labels alike that are
// linearly independent after one of them was subtracted. Any two or three labels are such
// a set, however they were chosen. So labels matter for the chances of a report only by sets of
// four or more whose sum modulo 2 is 0. A uniform permutation has one such set in
// 2^m − 3 sets of four keys.
package gf2
