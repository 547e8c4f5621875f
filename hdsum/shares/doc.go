// Package shares is the mechanism "sumdp-shares" of package fl: sums of gradients by two
// passive servers. Use it where both servers follow the protocol and do not work together: each
// sees random bytes and the noisy sum. Start with [Name] in a Round, and with fl.SharedMechanism.
//
// The mechanism "sumdp" of package hdsum sends all messages of a client to one party, which
// could read the gradient. Here the client adds its part of the noise to the gradient itself
// and sends two additive shares of the result to two servers. No flood of messages is needed.
//
// # Protocol
//
// A gradient is clipped to the L2 norm C, rotated to d' = 2^⌈log2 d⌉ coordinates, cut to a
// range and rounded to integers x_1 … x_d' in {−L..L}, as for sumdp. Then, for n =
// Round.MinReports clients and a modulus 2^k:
//
//	client    y_i = x_i + u_i − v_i mod 2^k     u_i, v_i ~ NB(1/n, e^−η), independent
//	          first server:   seed              32 uniform bytes
//	          second server:  y − G(seed) mod 2^k
//	server    adds the shares of the clients that both servers hold, modulo 2^k
//	together  add the two sums, and read a residue of 2^(k−1) and more as a negative number
//
// The noise of n clients is discrete Laplace noise: the u_i of n clients sum to NB(1, e^−η),
// a geometric variable, the v_i to another one, and their difference has probabilities
// proportional to e^−η|z|. More than n clients only add noise.
//
// G is AES-256 in counter mode with the key seed and a counter that starts at 0. Its output
// is read as d' numbers of k bits, the lowest bits of the lowest bytes first. A seed serves
// once.
//
// # What a server sees
//
// The seeds do not depend on the gradients. The second server sees y − G(seed) and not the
// seed. If G is a pseudo-random generator, this is uniform bytes to every party of bounded
// computing power, whatever y is. That is an assumption on AES.
//
// A second assumption is on the client's generator, ChaCha8 from fl.NewRand: noise and seeds are what
// they should be to a party that cannot predict it. Whoever carries the shares adds assumptions.
// Package server/seal rests on HPKE, and on HMAC-SHA256 for the tag of the second server's share.
//
// So everything that one server receives from clients can be made without them. If both servers
// follow the protocol, the view of one server, together with the other server's sum, follows from
// random bytes and the noisy sum.
//
// The noisy sum mod 2^k is a function of the noisy sum. It is (ε, δ)-differentially private
// under the relation of the round, by the calibration below, if n clients follow the
// protocol. A wrap-around loses accuracy and never privacy.
//
// # Calibration
//
// Neighbours under zero-out differ by at most s = L in every x_i, under replace-one by at
// most s = 2L. One noisy coordinate is then sη-private, with δ = 0. η is the largest one whose
// d' independent coordinates compose to (ε, (1 − 2^−20)·δ) by the optimal composition of
// Kairouz, Oh and Viswanath, rounded down. One instance per coordinate serves both signs.
// sumdp has one for each, and twice the noise under zero-out.
//
// The other 2^−20·δ pays for a cut. sample.Clusters draws noise with its exact law, except
// that it leaves out clusters of size 2^B and more. Let t be the expected number of those in
// all shares of n clients. The law of all noise together is within total variation distance t
// of the ideal one. For laws P, Q of neighbours, cut, and P', Q' ideal:
//
//	P(E) ≤ P'(E) + t ≤ e^ε·Q'(E) + δ' + t ≤ e^ε·Q(E) + δ' + (1 + e^ε)·t
//
// B is the least number with (1 + e^ε)·t ≤ 2^−20·δ. Nothing else about the noise is
// approximate: it is drawn from uniform integers.
//
// # No wrap-around
//
// Let N be the most reports that are decoded, 2·max(MinReports, TargetReports) + 1024. Their
// inputs sum to at most N·L in absolute value. Their noise is the noise of g = ⌈N/n⌉ groups of
// at most n clients. In a group the u_i of a coordinate are at most a geometric variable U, also
// after the cut, with P[U > t] = e^−η(t+1), and so are the v_i. For
//
//	T = ⌈(ln(2·g·d') + 40·ln 2)/η⌉
//
// all 2·g·d' of these variables are at most T except with probability 2^−40. The noise of
// every coordinate is then within ±g·T, and k is the least number with 2^(k−1) > N·L + g·T.
// So the sum of honest clients is decoded wrongly with probability at most 2^−40 in a round.
// That is no matter of privacy.
//
// # What is not protected
//
// Both servers together read every gradient. With h < n honest clients the noise has the
// shape h/n instead of 1 and protects less. A client can shift the sum at will, and so can a server.
//
// A server that does not follow the protocol reads a gradient alone. It makes up n − 1 reports, sees
// to it that one client's report counts beside them, and subtracts its own from the sum. That
// client's noise is left, of shape 1/n, which leaves most coordinates bare: see docs/threat-model.md.
package shares
