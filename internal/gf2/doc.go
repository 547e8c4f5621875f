// Package gf2 is the linear algebra over GF(2) behind the fast hash family. Use it for random
// labels of keys, for random affine maps of full rank that expand from a 32-bit seed, and for
// the set of labels that a map sends to one value. Start with [Labels], [Expander] and [Coset].
//
// Vectors of up to 32 bits are uint32. The product of a matrix and a label is a parity per
// row.
package gf2
