// Package sample draws the random variables of the shuffle-model protocols and
// evaluates their laws.
//
// # Parameters
//
// Geometric decay is given by η = −ln p, never by p, so that 1−p = −expm1(−η)
// keeps its digits when p is close to 1. Everything is meant for η in [1e−12,
// 50]; who makes a value checks its parameters. A sampler whose η is below
// [MinEta], or not a number, draws with MinEta: that is less noise than was asked for, so packages
// that promise privacy refuse such parameters.
//
// # Exactness
//
// [DiscreteLaplace] and [Alias] draw from uniform integers only: their laws are
// those of their documentation to the last bit. The others go through
// floating-point functions. They start from uniform variables that are rounded
// in relative, not absolute, terms, so that rare outcomes keep their
// probabilities to a relative 1e−13 or so. The generators of the standard
// library's NormFloat64 and ExpFloat64 have a lattice of 2^−32 and single
// precision tables, and are not used: with them a variable that is to be
// positive once in 10^12 draws is so once in 2^32.
//
// Values are safe for concurrent use; the generator passed to them is not.
package sample
