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
// messages, and the analyzer adds them up. Modulo q their sum is the sum of the inputs
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
// [Messages] finds the m that meets the condition. For n <= 2000 it evaluates the left
// side by an exact recurrence, [Log2ChiSquare], and for larger n an upper bound of it,
// which is derived below. Both are rounded up, and no m is used for which the evaluation
// misses the condition. Closed forms such as ⌈(2σ+log₂ q)/(log₂ n − log₂ e)⌉ + 1 ask for
// too many messages where n is small and are not certified by this bound where n
// is large.
//
// # Many clients
//
// The recurrence takes O(n²) operations. The bound of this section takes O(m).
//
// q^C is the number of colourings of the hands with q colours in which every edge joins
// hands of one colour. A colouring can be right only if each colour has as many hands
// of the first dealing as of the second. If a_c of each have the colour c, it is right
// with probability Π(m·a_c)!/(mn)!, and (n!/Πa_c!)² colourings have these numbers. So with
//
//	w(a) = (ma)!/(a!)²,   E[q^C] = Σ Πw(a_c)/w(n)   over all a_1 + … + a_q = n, a_c ≥ 0.
//
// We group the terms by the k colours that are used. The C(q, k) choices of them contribute
// alike, k = 1 contributes q, and C(q, k)/q ≤ q^{k−1}/k!. So
//
//	E[q^{C−1}] − 1 = Σ_{k≥2} C(q, k)/q · F_k,   F_k = Σ Πw(a_i)/w(n),
//
// where F_k is over all compositions of n into k parts a_i ≥ 1. Two facts bound it.
//
//  1. For m ≥ 2 the ratio r(a) = w(a)/w(a−1) = m·Π_{0<i<m} (m(a−1)+i) / a does not fall as a
//     grows: (m(a−1)+1)/a = m − (m−1)/a does not, and no other factor does. So log w is convex.
//  2. Let u(N, b) = w(b)·w(N−b)/w(N) = C(N, b)²/C(mN, mb). As w(N)/w(N−b) is the product of
//     r(N−b+1), …, r(N), u(N, b) does not rise with N. It does not rise with b up to N/2
//     either: u(N, b+1)/u(N, b) = r(b+1)/r(N−b).
//
// Let h = ⌊n/2⌋. Every composition belongs to one of three kinds.
//
// Two parts, b ≤ h and n − b. They contribute at most
//
//	q·Σ_{1≤b≤h} u(n, b).
//
// More parts, the largest of them at least n − h. Choose a place for it, in k ways, and take
// the other parts b_1, …, b_{k−1} away one after the other. If N_i is what is there before
// b_i is taken, then Πw(a_i)/w(n) = Πu(N_i, b_i), and N_i − b_i is never below n − h. By
// fact 2 each factor is at most v(b) = u(n−h+b, b). With V = Σ_{1≤b≤h} v(b) they contribute
// at most
//
//	Σ_{k≥3} q^{k−1}/k! · k·V^{k−1} = e^{qV} − 1 − qV.
//
// No part above h. As log w is convex it lies below its chord, w(a) ≤ w(1)·A^{a−1} for
// 1 ≤ a ≤ h with A = (w(h)/w(1))^{1/(h−1)}. Let g = w(1)/A. There are C(n−1, k−1) ≤
// n^{k−1}/(k−1)! compositions, and Σ_j x^j/(j!)² ≤ (Σ_j √x^j/j!)² = e^{2√x}. So they contribute
// at most
//
//	Σ_k q^{k−1}/k! · n^{k−1}/(k−1)! · g^k·A^n/w(n) ≤ g·A^n/w(n) · e^{2√(nqg)},
//
// which is tiny, since w(n) is about 2^{(m−2)n} times w(n/2)².
//
// The sums over b count their first three terms and take the fourth for all others, as
// v(b) does not rise with b, like u: v(b+1)/v(b) = r(b+1)/r(n−h+b+1). The first term,
// q·u(n, 1) = q·n²/C(mn, m), makes up nearly all of the result: for n > 2000 and the m that is
// used, the tests find at most 1.002 times that term.
//
// # What is assumed
//
// The guarantee is about the union of all clients' messages. A party that sees the m
// messages of one client together learns its y. The guarantee needs n honest clients.
// With fewer, the noise is short of a discrete Laplace variable, and there are fewer
// messages to hide in. More reports than n only add noise and messages.
//
// The proof is for negative binomial noise with its exact law. Encode draws that by a floating-point
// sampler, off by about 10^-13 of each probability. The residues are exact.
package bbgn
