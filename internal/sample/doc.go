// Package sample draws the random variables of the protocols of this module and evaluates
// their laws. Use it for noise, and wherever a law is needed without cancellation. Start with
// [DiscreteLaplace], [NegativeBinomial], [Poisson] and [Alias].
//
// # Parameters
//
// Geometric decay is given by η = −ln p, never by p. Then 1−p = −expm1(−η) keeps its digits
// when p is close to 1. Everything is meant for η in [1e−12, 50]. The caller checks the
// parameters of the values that it makes. A sampler whose η is below [MinEta], or not a
// number, draws with MinEta. That is less noise than was asked for. Packages that promise
// privacy refuse such parameters.
//
// # Exactness
//
// [DiscreteLaplace] and [Alias] draw from uniform integers only. Their laws are the
// documented laws to the last bit.
//
// The other samplers go through floating-point functions. They start from uniform variables
// that are rounded in relative, not absolute, terms. Rare outcomes keep their probabilities to
// a relative 1e−13 or so. NormFloat64 and ExpFloat64 of the standard library are not used.
// They have a lattice of 2^−32 and single precision tables: with them a variable that is to
// be positive once in 10^12 draws is so once in 2^32.
//
// Values are safe for concurrent use. The generator passed to them is not.
package sample
