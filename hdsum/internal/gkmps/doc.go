// Package gkmps sums integers privately by hiding them among noise messages.
// Use it through package hdsum, which draws the noise that is described here.
// Start with [New] and [Protocol.Floods].
//
// It is the shuffle-model sum of Ghazi, Kumar, Manurangsi, Pagh, Sinha,
// "Differentially Private Aggregation in the Shuffle Model: Almost Central Accuracy in
// Almost a Single Message", ICML 2021 (the paper). n clients with inputs in {0..U}
// send messages with values in ±1 … ±U, and all messages are shuffled. Their sum is
// the sum of the inputs with the discrete Laplace noise of one central curator.
//
// # Protocol
//
// Client i sends its input x_i, unless that is 0, and its share of three floods of
// noise. NB(r, p) has the probabilities C(k+r−1, k)·(1−p)^r·p^k; one of n clients
// draws from NB(r/n, p), so that all clients together send NB(r, p) copies.
//
//   - Central: NB(1, e^{−ε*/U}) messages +1 and as many, independently, −1. Their
//     difference is discrete Laplace noise, probabilities proportional to
//     e^{−ε*|d|/U}, and is all that changes the sum.
//   - D-hat: NB copies of the atom {+1, −1}.
//   - D-tilde: for every atom s, NB copies of it. The atoms are {+1, −1} again
//     and {i, −⌈i/2⌉, −⌊i/2⌋} for 2 <= |i| <= U. Each sums to 0.
//
// The analyzer adds all messages. ε* = (1−λ)ε with λ = 0.1; λε and δ pay for D-hat
// and D-tilde. [New] computes the laws, [Protocol.Floods] returns them; package
// hdsum draws them.
//
// For U large against √n, n clients may round their inputs to multiples of B first
// ([Config].Rounding, [Protocol.Round]). U' = ⌈U/B⌉ then takes the place of U, and the sum
// of the messages is multiplied by B. Rounding is each client's own business: the
// protocol is private for any inputs in {0..U'}, hence for random ones.
//
// # Guarantee
//
// The shuffled messages of one instance are (ε, δ)-differentially private under the
// relation of the Config, if all n clients send their shares. The guarantee is void when
// the messages of one client can be distinguished from the others'. With h < n honest
// clients only NB(rh/n, p) copies hide an input. The proof is for shares with exactly these
// laws. The samplers of package hdsum are floating-point ones, off by about 10^-13 of each probability.
//
// The proof splits what the shuffler hands on into independent parts and adds up what
// each of them reveals.
//
// The paper's Theorem 8, in the form used here. Count the messages other than +1; +1
// needs no count, since it follows from the sum. Let C_{s,x} be integers such that
// C_{s,x} copies of every atom s have, besides +1, one message x and no other:
//
//	c_1 = 0,  c_{−1} = {atom 1},  c_i = {atom i} − c_{−⌈i/2⌉} − c_{−⌊i/2⌋}.
//
// The atoms are as many as the message values other than +1, so the counts are a
// bijective image of the numbers of copies. What the shuffler hands on is therefore
// equivalent to the sum x+d; the number of messages −1 that do not belong to an atom i
// >= 2 or i <= −2, after C's number has been subtracted; and, for the other atoms s, D-tilde_s + C_{s,x}.
// It can be computed from two independent parts.
//
// First part (Lemma 9): the sum x+d and z₋+w, where z₊, z₋ are the central messages
// and w is D-hat. With q = e^{−ε*/U}, P(z₊, z₋) = (1−q)²·q^{2g+|d|} for g = min(z₊, z₋)
// and d = z₊−z₋, so d is discrete Laplace, g is independent of it and
// z₋ = g + max(0, −d). The sum x+d is ε*-private. Given it, another x changes
// max(0, −d) by at most U, and w hides shifts up to U: (ε1, δ1).
//
// Second part: D-tilde_s + C_{s,x} for all atoms s. A shift by k of D-tilde_s costs at
// most kη_s, except with a probability δ_s. Between x and x' that adds up to
// Σ_s η_s·|C_{s,x}−C_{s,x'}|, and to ε2 if η_s = ε2·|s|/(2Γ) and
//
//	Σ_s |C_{s,x}|·|s| <= Γ  for every x in {0..U}.
//
// Under fl.ZeroOut one of the two columns is 0 and the 2 is left out. Altogether
// ε*+ε1+ε2 and δ1+δ2. For U = 1 the second part is empty: c_1 = 0.
//
// # Dominance
//
// Γ = U(⌈log₂ U⌉+1) will do. Write c_x out down to the leaves ±1. Halving preserves
// the sum of the absolute values, so the values of every level of the recursion
// have absolute values that sum to at most x. Values of 2 and more are on the levels
// 0 … ⌈log₂ x⌉−1 only, because ⌈v/2⌉ takes ⌈log₂ v⌉ steps to 1. Each is one atom and counts
// with its absolute value: at most x per level. The leaves sum to x; a leaf −1 is one
// atom {+1, −1}, a leaf +1 nothing. So the sum is at most x(⌈log₂ x⌉+1). It is attained,
// for instance at U = 8. A Γ with the natural logarithm is too small for most U,
// from 6 on.
//
// # Calibrations
//
// [Published] has the constants of Theorem 2: ε1 = ε2 = min(1, λε)/2, δ1 = δ2 = δ/2, and
// NB(3(1+ln(1/δ')), e^{−0.2ε'/Δ}), which is (ε', δ')-private for shifts up to Δ for
// every ε' up to 1 (Theorem 10; ε' = 1 by continuity).
//
// [Certified] leaves out the atoms i < −⌈U/2⌉. They are in no column c_x with
// x in {0..U}, so that the number of their copies says nothing about the inputs.
//
// [Tight] replaces Theorem 10. Let Z ~ NB(r, e^{−aη}), r > 1, 0 < a <= 1. Then
// P[Z = z]/P[Z = z−1] = e^{−aη}(1+(r−1)/z). It is at least e^{−aη}, so Z+k against Z costs
// kaη <= kη at most, without δ. It is at most e^η for z >= (r−1)/(e^{(1+a)η}−1). So Z
// against Z+k, 1 <= k <= D, costs at most kη unless Z < k*,
//
//	k* = D−1 + (r−1)/(e^{(1+a)η}−1),
//
// and Z and Z+k are (kη, δ')-indistinguishable for every k <= D if P[Z < k*] <= δ'. This
// holds for every η > 0, so that λε need not be capped. The r is the least one, and
// a minimises the mean. For D-hat η = ε1/U and D = U. For D-tilde η_s is as above, with
// the exact maximum Γ* of the weighted columns for Γ; D_s is the largest difference of two
// entries of row s, and δ' = δ2/T with T the most rows in which two columns can differ.
// ε1:ε2 is chosen for few messages.
//
// All three round against the client: laws from rounded budgets cover more than what
// is promised.
//
// # Departures from prints
//
// The paper's main text asks for some Γ of order U·log² U; the above is proved here.
// Dong, Luo, Fanti, Yi, Shi, "Instance-optimal Clipping for Summation Problems in the
// Shuffle Model of Differential Privacy" (2024), print the rounding in Algorithm 1 with its two
// probabilities swapped, which is biased and sends 0 to −1, and with U' = √n,
// although rounded inputs reach ⌈U/B⌉, about √(n/ζ). Here U' = ⌈U/B⌉.
package gkmps
