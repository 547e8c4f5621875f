// Package hdsum sums integers and vectors in the shuffle model of differential
// privacy: every client sends several short messages, a shuffler mixes the
// messages of all clients, and what comes out is a sum with the noise of one
// central curator.
//
// # What is in it
//
//   - [BaseSum]: one sum of inputs in {0, …, U} with noise proportional to U, by
//     GKMPS (package hdsum/gkmps) or BBGN (package hdsum/bbgn), or whichever costs
//     fewer bits.
//   - [SumDP]: one sum whose error follows the largest input that matters instead
//     of U, in one round.
//   - [HighDimSum]: sums of vectors of bounded L2 norm, integer or real, through a
//     randomized Hadamard rotation and a SumDP per sign and coordinate.
//   - [SparseVecSum]: sums of sparse 0/1 vectors whose sparsity varies.
//   - the mechanism "sumdp" of package fl: HighDimSum for clipped gradients.
//
// All of them are from Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for
// Summation Problems in the Shuffle Model of Differential Privacy" (2024), called
// the paper below.
//
// # Instances and messages
//
// A protocol is a list of instances of BaseSum, each with a number of its own.
// A [Message] is a value with its instance's number. One client's messages for all
// instances form a [Multiset]; a message that occurs k times is one entry with
// count k, so that noise of many equal messages is cheap to draw, send and count.
//
// # What has to be unlinked
//
// The guarantees are about the union of all clients' single messages. Whoever sees
// the messages of one client together learns its input. The party that receives
// the clients' multisets is therefore the shuffler and trusted not to look: it
// merges them ([Sums]) before anybody else sees anything. The analyzer needs
// nothing but the sum of the messages of each instance, and Sums holds nothing
// else.
//
// # Neighbours
//
// Every protocol takes the relation explicitly. Under fl.ZeroOut the neighbours
// differ in one client whose input is 0 in one of them; under fl.ReplaceOne one
// client's input is anything in either. The number of clients is public and exact:
// the noise is spread over that many honest clients, and fewer leave less of it.
package hdsum
