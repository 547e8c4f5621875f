// Package gaussian has two mechanisms of package fl for sums of gradients with Gaussian noise. Use "gaussian-shares", sums by two
// servers, where no server is trusted alone and local noise is too much: with 50 to 5000 clients. Use "gaussian-site" for few clients
// with many records each. Start with [SharesName] and fl.SharedMechanism, or with [SiteName] and fl.RecordMechanism, in a Round.
//
// Sums by two servers have the error of one trusted server up to a factor √2, and of 1.17 where nine clients of ten are honest (see Honest clients).
//
// A client sends two additive shares of its gradient to two servers. Each server adds the shares, and
// adds the whole noise to its sum, once, before the sum leaves it.
//
// # Protocol
//
// A gradient is clipped to the L2 norm C = Round.Scale and rotated to d' = 2^⌈log2 d⌉ coordinates. Then, for
// K = ⌈16·√d'⌉ units and a modulus 2^k:
//
//	client    X = the rotated gradient times K/C, rounded at random to integers, again until ‖X‖² ≤ B²
//	          first server:   seed              32 uniform bytes
//	          second server:  X − G(seed) mod 2^k
//	server    adds the shares of the clients that both servers hold, modulo 2^k
//	          adds ⌊N(0, σ²)⌋ to every coordinate, and releases the result, once
//	together  add the two releases and 1, and read a residue of 2^(k−1) and more as a negative number
//
// G is AES-256 in counter mode with the key seed and a counter that starts at 0. Its output is read as
// d' numbers of k bits, the lowest bits of the lowest bytes first. A seed serves once.
//
// # What a server sees
//
// Let one server be honest. The other server may do anything: make up reports, work together with all
// other clients, leave out whom it wants, and choose that after it has seen its shares. Everybody may see
// what the honest server releases.
//
// The other server's shares do not depend on the gradients. The first server's are seeds. The second
// server's are X − G(seed) without the seed: if G is a pseudo-random generator, uniform bytes to every party
// of bounded computing power. So the set of reports that the honest server adds does not depend on the
// gradients either. Of these the honest server shows one thing: S + ⌊N(0, σ²)⌋ mod 2^k, once. S is the sum of its
// shares, the sum of the X less what the other server knows. As the X are integers, that is
// ⌊ΣX + N(0, σ²)⌋ up to known terms: a function of what the Gaussian mechanism shows of ΣX.
//
// One client changes ΣX by at most Δ = 2B under replace-one, and by B under zero-out, because no client
// sends a longer X, whatever its floating-point numbers did. So the release is (ε, δ)-differentially private
// with exactly the Gaussian mechanism's curve at the noise multiplier σ/Δ. Guarantee.Sigma is that multiplier, and
// rounds compose by it. Round.MinReports has no part in the proof. It limits the error.
//
// # Records
//
// In a round with the parameter fl.ParamRecords a client, such as a hospital, holds many records. Each record's gradient is
// clipped, rounded and kept to B² by itself. The client adds the integers, and shares their sum. Both shares begin with the
// number of records. One record changes ΣX by at most Δ, as one client does above, so the same proof holds about
// one record. The number of a client's records is public. A gradient without numbers counts as zero, so that the number does not depend
// on what is in the records. All records of one person together, or of one client, are hidden less: k records have k·Δ.
//
// # Own noise
//
// In a round with the parameter ParamOwnEpsilon each client adds ⌊N(0, σ'²)⌋ to its X before it shares X: σ' is a site's (below) for that ε. Both
// servers together then see what a server of sites sees of one client, so that the sites' proof holds against them. The noise does not depend on
// gradients, so that the proof about one server stays as it is.
//
// # Honest clients
//
// The servers' noise hides everybody even if all other clients are in the other server's hands. In a round with the parameters ParamHonestEpsilon,
// ε_h, and ParamHonestReports, H, it is for Round.Epsilon, which is larger, and clients add what is missing for ε_h: each adds ⌊N(0, σ_c²)⌋ to its X
// before it shares X, with σ_c² = (σ_h² − σ²)/H for the noise σ_h of Theorem 8 for (ε_h, δ). So the promise for Round.Epsilon stays as it is. If H or
// more of the counted reports are of honest clients, the protected client's among them, what the honest server shows has the Gaussian mechanism's
// curve at the noise multiplier √(σ² + H·σ_c²)/Δ. HonestGuarantee is that promise. Whether a server counts H such reports is nothing that this
// package can see: it depends on who can take part.
//
// The proof. The shares that the other server gets do not depend on the noises, so that they are independent of which reports are counted. The honest
// server shows known terms and Z = ⌊N₀⌋ + ⌊N₁⌋ + … + ⌊N_H⌋ beside ΣX, N₀ its own noise. Let T_i = N₀ + … + N_i, and U_i = N_i − ⌊N_i⌋. As ⌊a⌋ + n =
// ⌊a + n⌋ for whole n,
//
//	⌊T_(i−1) − U_1 − … − U_(i−1)⌋ + ⌊N_i⌋ = ⌊T_i − U_1 − … − U_i⌋,
//
// so that Z is a function of T_H and of the U. Given T_i, N_i is normal, of variance r_i² = σ_c²·V/(σ_c² + V) for the variance V ≥ σ² of T_(i−1). So
// U_i is uniform on [0, 1) given T_i, up to a total variation of Σ_(h≥1) exp(−2π²h²·r_i²) by Poisson's summation formula. N_i, T_(i−1) and the
// earlier U are independent, up to the distances of the earlier steps. Therefore, up to H times that distance at r_1, Z is ⌊T_H − U_1 − … − U_H⌋ for
// uniform U that are independent of T_H: a function of a normal variable of variance σ² + H·σ_c² and of numbers that have nothing to do with a
// gradient. Noise of further honest clients is such a number, too. K is 16·√d', doubled until r_1 ≥ 2. Each step then costs less than 2^−113 a
// coordinate, and the 2^−20·δ below pay for it, and for H + 1 times t.
//
// # Proofs
//
// In a round with the parameter ParamProof, X has K = ⌈2/3·√d'⌉ units and integers in [−2, 2]: a rotated coordinate of a gradient of norm C
// has a standard width of two thirds of a unit. Coordinates beyond three widths are cut, which takes .3 % off a gradient of the clip's length, and less
// off a shorter one. X has 8 bits a coordinate, 4 for each sign: 1 sets the first of the 4, and 2 sets all. So ‖X‖² bits are set. The first bit of 4 stands for
// 1 and each other one for ⅓, so that a number whose bits anybody has set has a square of at most the number of bits set. The shares are
// Prio3MultihotCountVec's (draft-irtf-cfrg-vdaf, package vdaf/prio3/mhcv of circl): it proves that at most B² bits are set. The context is the round's digest.
// A server adds up 3·X. Each share begins with the nonce and the public share. The first server has the seed. The second server makes its preparation
// share first, and the first server verifies both: it also compares the public shares, so that both servers have used the same joint
// randomness and no answer is needed. A report whose proof does not hold counts at neither server. A client that lies adds a
// vector of length B at most, as an honest one may.
//
// The sums are modulo the prime of the field. The noise, and what an honest server shows, are as above: 3·(S + ⌊N(0, σ²)⌋) modulo the prime.
// The proof is zero-knowledge against one server, so that a preparation share does not depend on the gradient either. That, and uniform
// shares, rest on Prio3 with TurboSHAKE128 as a random oracle. B is at most 1.74·K, at most 1.42·K from d' = 64 on, 1.30·K at
// d' = 1024 and 1.26·K at 2^16: so much is the noise larger than without proofs. A liar is stopped if both servers are honest: a server can add what it wants.
//
// # Sites
//
// With "gaussian-site" each client adds ⌊N(0, σ²)⌋ itself, to the integers of its gradient or to the sum of its records, and sends the
// result modulo 2^k, packed. So its report is a function of what the Gaussian mechanism shows of these integers, and the same (ε, δ) and the
// same curve hold against everybody. A server adds the reports. n of them have the noise of n servers.
//
// The proof assumes AES, the generators of the client and of the honest server (ChaCha8 from fl.NewRand), and that
// the honest server counts a share once and releases once. Whoever carries the shares adds assumptions: see
// docs/threat-model.md.
//
// # Calibration
//
// B² = K² + d'/4 + K + √d'/2, rounded down: at least 1 − e^−½ of all roundings keep to it (Kairouz, Liu and Steinke, The
// Distributed Discrete Gaussian Mechanism for Federated Learning with Secure Aggregation, ICML 2021, Theorem 1 with
// β = e^−½). B is .45 % above K at d' = 64, .15 % at 1024, .05 % at 2^20. With one coordinate B = K: no rounding is longer. With proofs
// B² is K² + d'/4 + 2·(K + √d'/2), and at most one rounding in 400 is drawn again.
//
// σ is the least one of Balle and Wang's Theorem 8 for (ε, (1 − 2^−20)·δ), rounded up to a whole part of
// rounded.WideDeviation: package internal/rounded draws ⌊N(0, WideDeviation²)⌋, and ⌊⌊w⌋/g⌋ = ⌊w/g⌋. The law is
// within t = 2^−94 of the exact one in total variation, per coordinate, and the other 2^−20·δ pays for
// (1 + e^ε)·d'·t.
//
// # No wrap-around
//
// Let N be the most vectors that are decoded: 2·max(MinReports, TargetReports) + 1024 reports, or fl.ParamRecords records. A rotated coordinate is at most
// r = rotation.Bound(16, d', N, 2^−40) units and a unit of rounding, but for one in 2^41 rounds. The noise of both servers is
// within 12·√2·σ. k is the least number of bits for N·(r + 1) + 12·√2·σ + 2. Sites have as many noises as reports, at most. A wrap-around is a matter of accuracy,
// never of privacy.
//
// # Error
//
// A coordinate of the sum has the noise of both servers, 2σ², and of the clients where they add noise, and 1/12 for each rounding down, and at most 1/4 for each
// vector's rounding. The estimate is unbiased for the mean of clipped gradients, up to what the repeated rounding
// changes: less than .1 % of a gradient. With proofs the range cuts what a normal variable has beyond three standard
// deviations: about .3 % of a gradient as long as the clip, .6 % at d' = 64.
//
// # What is not protected
//
// Both servers together read every gradient. So does one server that gets the other's shares on their way. Without proofs a client can
// shift the sum at will, or say that it has more records than it has. A server can always shift it.
package gaussian
