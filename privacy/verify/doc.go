// Package verify answers whether the code in this binary keeps the guarantee that
// a round promises. There are two methods.
//
// # Exact
//
// For a mechanism whose choices can be taken from outside ([Enumerable]: coco,
// collision, signsketch) and a small domain, the code that makes reports is run
// once for every ternary input, for many seeds of the public hash function and for
// every sequence of random choices. That gives the exact rational law of the report.
// The guarantee holds for these seeds if and only if every law sums to 1, all have
// the same support, and the largest ratio of two probabilities of a report is at
// most a rational lower bound of e^ε. The seed is public and drawn without a look
// at the input, so the ratio is taken seed by seed.
//
// Inputs are the 2^s·C(d+s, s) vectors that the encoder accepts, dummies included,
// each listed in ascending and in descending order. Gradients come before that:
// turning one into a ternary vector is pre-processing that ends in one of these
// inputs, whatever it does, and so needs no proof. A few runs of Encode confirm that
// its reports are among the enumerated ones.
//
// # Statistical
//
// Every other mechanism, and every other round, is attacked: many reports of
// adversarial pairs of gradients are drawn through Encode, half of them choose the
// event that tells the two gradients apart best, and the other half bound its two
// probabilities (Clopper, Pearson, "The use of confidence or fiducial limits",
// Biometrika 1934). That gives a lower bound of ε (Jagielski, Ullman, Oprea,
// "Auditing Differentially Private Machine Learning", NeurIPS 2020). A bound above
// the promise is a violation. No bound above it is no proof.
package verify
