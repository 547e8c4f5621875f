// Package hdsum estimates sums of what many clients hold, numbers or vectors.
// Use it when clients trust a shuffler: the noise is a single central curator's noise.
// Start with [SumDP] for numbers, and with the mechanism [Name] of package fl for gradients.
//
// In the shuffle model of differential privacy every client sends several short
// messages, and the shuffler mixes the messages of all clients. The server sees the
// mixture. A sum over it carries the noise of a single central curator, where local
// mechanisms add noise for every client.
//
// # What is in it
//
//   - [BaseSum]: one sum of inputs in {0, …, U} with noise proportional to U, by
//     GKMPS (package internal/gkmps) or BBGN (package internal/bbgn), or whichever costs
//     fewer bits.
//   - [SumDP]: one sum whose error follows the largest input that matters instead
//     of U, in one round.
//   - [HighDimSum]: sums of integer vectors of bounded L2 norm, through a
//     randomized Hadamard rotation and a SumDP per sign and coordinate.
//   - [GradientSum]: the same for real vectors, which are clipped and rounded first.
//   - [SparseVecSum]: sums of sparse 0/1 vectors whose sparsity varies.
//   - [Name], the mechanism "sumdp" of package fl: GradientSum for the clients of a round.
//   - Package hdsum/shares, the mechanism "sumdp-shares": the same sums by two passive servers,
//     for clients that trust both to follow the protocol and not to work together.
//
// All of them are from Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for
// Summation Problems in the Shuffle Model of Differential Privacy" (2024), called
// the paper below.
//
// # Instances and messages
//
// A sum is made of instances. An instance is one BaseSum with a number of its own.
// A [Message] is a value with its instance's number. One client's messages for all
// instances form a [Multiset]. A message that occurs k times is one entry with
// count k, so that noise of many equal messages is cheap to draw, send and count.
//
// # What has to be unlinked
//
// The guarantees are about the union of all clients' single messages. A party that
// sees the messages of one client together learns its input. The party that receives
// the clients' multisets is therefore the shuffler, and it is trusted not to look. It
// merges them ([Sums]) before anybody else sees anything. The analyzer needs
// nothing but the sum of the messages of each instance, and Sums holds nothing
// else.
//
// # What is not exact
//
// The noise of GKMPS and BBGN is negative binomial. It comes from floating-point samplers, whose
// probabilities are off by about 10^-13 of themselves (package internal/sample). The proofs are for the
// exact law, and δ does not pay for the difference. Messages are integers, and which ones can occur
// does not depend on the input. Package hdsum/shares has exact noise.
//
// # Neighbours
//
// Every sum takes the relation explicitly. Under fl.ZeroOut the neighbours
// differ in one client whose input is 0 in one of them. Under fl.ReplaceOne one
// client's input is anything in either. The number of clients is public and exact.
// The noise is spread over that many honest clients. Fewer of them leave less noise.
//
// # Inside
//
// From the ground up: a noisySum (protocol.go, protocol_gkmps.go, protocol_bbgn.go) is
// the law of one instance. A layout (layout.go) numbers many of them and encodes a
// client's inputs to all, and Sums adds up what clients send. Each public sum only decides
// how large its instances are, which inputs go where, and what the sums of the instances
// mean.
package hdsum
