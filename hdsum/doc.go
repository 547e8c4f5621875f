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
//   - [BaseSum]: one sum of inputs in {0, …, U} with noise proportional to U, by one of two
//     protocols. GKMPS (Ghazi et al., package internal/gkmps) hides inputs among noise messages.
//     BBGN (Balle et al., package internal/bbgn) splits inputs into random shares. The default is
//     the protocol with fewer bits.
//   - [SumDP]: one sum whose error follows the largest input that matters instead
//     of U, in one round.
//   - [HighDimSum]: sums of integer vectors of bounded L2 norm, through a
//     randomized Hadamard rotation and a SumDP per sign and coordinate.
//   - [GradientSum]: the same for real vectors, which are clipped and rounded first.
//   - [SparseVecSum]: sums of sparse 0/1 vectors whose sparsity varies.
//   - [Name], the mechanism "sumdp" of package fl: GradientSum for the clients of a round.
//   - SharesName, the mechanism "gaussian-shares": sums by two servers with Gaussian noise. Its clients trust
//     one of the two servers, whichever it is: together the two read the gradients.
//
// All of them but SharesName are from Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for
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
// The guarantees are about the union of all clients' single messages. A party that sees the
// messages of one client together learns its input. The party that receives the clients' multisets
// is therefore the shuffler, and it is trusted not to look. It merges them ([Sums]) before anybody
// else sees anything. The analyzer, which estimates from the mixture, needs nothing but the sum of
// the messages of each instance, and Sums holds nothing else.
//
// # What is not exact
//
// The noise of GKMPS and BBGN is negative binomial. Floating-point samplers draw it (package
// internal/sample). The relative error of their probabilities is about 10^-13. The proofs assume
// the exact probabilities. δ does not cover the error. Messages are integers. The set of possible
// messages does not depend on the input. The mechanism SharesName draws its noise exactly.
//
// # Neighbours
//
// Config.Relation says which inputs the guarantee compares. Two such inputs are neighbours. Under
// fl.ReplaceOne they differ in one client's input, which may be anything in both. Under fl.ZeroOut
// this client's input is 0 in one of the two, which is the weaker promise. The number of clients is
// public and exact. The noise is spread over that many honest clients. With fewer honest clients
// there is less noise, and the stated ε and δ are no longer proved.
//
// # Inside
//
// From the ground up: a noisySum (protocol.go, protocol_gkmps.go, protocol_bbgn.go) is
// the law of one instance. A layout (layout.go) numbers many of them and encodes a
// client's inputs to all, and Sums adds up what clients send. Each public sum only decides
// how large its instances are, which inputs go where, and what the sums of the instances
// mean.
package hdsum
