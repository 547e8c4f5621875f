// Package bbgn sums integers privately by splitting each of them into random shares.
// Use it through package hdsum, or alone for one sum whose messages you shuffle yourself.
// Start with [New].
//
// It is one instance of split-and-mix summation in the shuffle model with discrete
// Laplace noise: Balle, Bell, Gascón, Nissim, "Private Summation in the Multi-Message
// Shuffle Model", CCS 2020.
//
// # Protocol
//
// Each of n clients holds an integer x in {0, …, U}. A client adds its part of
// the noise, two negative binomial variables with p = e^{−ε/U},
//
//	y = x + NB(1/n, p) − NB(1/n, p),
//
// and splits y mod q into m shares: m−1 uniform residues and the one that makes
// the sum right. Every share is a message of its own. The shuffler mixes the n·m
// messages, and the analyzer adds them up. Modulo q their sum is that of the inputs
// plus one discrete Laplace variable DLap(ε/U), because n negative binomials of
// shape 1/n make one geometric variable. With q = n·U + 2T + 1 the result is read
// without wrap-around whenever the noise is at most T in absolute value. T is
// chosen so that larger noise has probability at most 2^-40. A wrap costs accuracy,
// never privacy.
//
// # Privacy
//
// The shuffled messages are almost as private as their sum, because they look almost
// like random residues with that sum.
//
// Let S be the noisy sum. It is ε-DP, for replacing an input as for setting it
// to 0, since either moves the true sum by at most U. Let P be the law of the
// shuffled messages given the clients' y, and Q_S the uniform law on the sequences
// of n·m residues with sum S. A party that knows only S can draw from Q_S, so the
// view is as private as S up to how far P is from Q_S. If their total variation
// distance is at most t for all y, the view is (ε, (1+e^ε)·t)-DP.
//
// To bound t, note that a sequence has the likelihood under P in proportion to the
// number of ways to deal its messages back to the clients so that each client's m
// residues sum to its y. The second moment of that number compares two independent
// ways of dealing: draw the bipartite multigraph in which the n hands of the first
// way and the n hands of the second are the vertices and every message is an edge
// from the hand it has in the one to the hand it has in the other. Given that the
// first dealing is right, the second is right with probability q^{−(n−C)}, where C
// is the number of connected components, provided that the y of each component
// agree, and 0 otherwise. So
//
//	χ²(P‖Q_S) ≤ E[q^{C−1}] − 1   and   t ≤ ½·√(E[q^{C−1}] − 1),
//
// with equality in the first when all y are equal. The instance is (ε, δ)-DP if
//
//	E[q^{C−1}] − 1 ≤ (2δ/(1+e^ε))².
//
// [Log2ChiSquare] evaluates the left side and [Messages] finds the m that meets
// the condition. Closed forms such as ⌈(2σ+log₂ q)/(log₂ n − log₂ e)⌉ + 1 ask for
// too many messages where n is small and are not certified by this bound where n
// is large.
//
// The guarantee is about the union of all clients' messages. A party that sees the m
// messages of one client together learns its y. The guarantee needs n honest clients.
// With fewer, the noise is short of a discrete Laplace variable, and there are fewer
// messages to hide in. More reports than n only add noise and messages.
package bbgn
