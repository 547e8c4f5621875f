// Package hdsum estimates sums of what many clients hold, numbers or vectors, with as little noise
// as a trusted server would add. Use it when clients trust a party that merges their messages, or
// one of two servers. Start with [SumDP] for numbers, and with the mechanism [Name] of package fl
// for gradients.
//
// In the shuffle model of differential privacy every client sends several short messages, and a trusted
// party mixes the messages of all clients. The server sees the mixture. The clients add the noise together:
// the sum has about as much of it as in central differential privacy. A local mechanism adds
// noise for every client.
//
// # What is in it
//
//   - [BaseSum]: one sum of inputs in {0, …, U} with noise proportional to U, by one of two
//     protocols. GKMPS (Ghazi et al., package internal/gkmps) hides inputs among noise messages.
//     BBGN (Balle et al., package internal/bbgn) splits inputs into random shares. The default is
//     the protocol with fewer bits.
//   - [SumDP]: one sum in one round. Its error follows the largest inputs of the clients, and not the
//     bound U.
//   - [HighDimSum]: sums of integer vectors of bounded L2 norm, through a
//     randomized Hadamard rotation and a SumDP per sign and coordinate.
//   - [GradientSum]: the same for real vectors, which are clipped and rounded first.
//   - [SparseVecSum]: sums of sparse 0/1 vectors whose sparsity varies.
//   - [Name], the mechanism "sumdp" of package fl: GradientSum for the clients of a round.
//   - SharesName, the mechanism "gaussian-shares": sums by two servers with Gaussian noise. A
//     gradient stays hidden if one of the two servers is honest, no matter which. Two servers that work
//     together read every gradient.
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
// messages of one client together learns the client's input. So whoever receives a client's Multiset is
// trusted not to look. That party merges the Multisets of all clients into [Sums], and passes on nothing
// else. The estimate needs nothing else. In package server the server itself is that party. Its shuffler
// permutes whole reports and does not mix messages, so a round of [Name] with a shuffler is refused.
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
// this client's input is 0 in one of the two. The promise under fl.ZeroOut is the weaker one. The
// number of clients is public and exact. The noise is spread over that many honest clients. With
// fewer honest clients there is less noise, and the stated ε and δ are no longer proved.
//
// # Inside
//
// From the ground up: a noisySum (protocol.go, protocol_gkmps.go, protocol_bbgn.go) is
// the law of one instance. A layout (layout.go) numbers many of them and encodes a
// client's inputs to all, and Sums adds up what clients send. Each exported sum only decides
// how large its instances are, which inputs go where, and what the sums of the instances
// mean.
package hdsum
