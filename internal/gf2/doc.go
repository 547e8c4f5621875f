// Package gf2 holds the linear algebra over GF(2) behind the fast hash family:
// random labels for keys, random affine maps of full rank that expand from a
// 32-bit seed, and walks over the set of labels that a map sends to one value.
//
// Vectors of up to 32 bits are uint32; the product of a matrix and a label is a
// parity per row.
package gf2
