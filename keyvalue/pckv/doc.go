// Package pckv is PCKV: locally private frequencies and means of key-value pairs. Use it where a
// client holds few of many keys: words, pages, coordinates of a sparse gradient. Import
// the package for its effect and start with a round of the mechanism [UE].
//
// It follows Gu, Li, Cheng, Xiong, Cao, "PCKV: Locally Differentially Private Correlated
// Key-Value Data Collection with Optimized Utility", USENIX Security 2020. Three mechanisms
// are registered: "pckv-ue" (unary encoding), "pckv-grr" (generalized randomized response)
// and "pckv-agrr" (the same with the gain that padding gives, Theorem 3). [Best] says
// whether "pckv-ue" or "pckv-agrr" is more accurate for rare keys.
//
// # Padding and sampling
//
// A client with the pairs S sends one of them. With ℓ the padding length, each pair
// is taken with probability 1/max(|S|, ℓ), and otherwise one of ℓ dummy keys, which
// have the value 0. A value v becomes + with probability (1+v)/2, in units of 2^−53,
// and − otherwise (Algorithm 1). Clients with more than ℓ pairs are heard too rarely:
// frequencies and means are then low by ℓ/|S| of what such clients hold. [SizePair] and
// [PaddingFromSizes] choose ℓ by a round among other clients.
//
// # Exactness
//
// All probabilities are ratios of integers and all choices are drawn from uniform
// integers, so that the laws below hold to the last bit.
//
// PCKV-UE has weights w = 2^k and h = ⌊w·e^ε⌋. A position is +, −, 0 with weights w,
// w, h+w. The position of the sent pair ⟨j, v⟩ is v, −v, 0 with weights h, w, h+w.
// That is Lemma 2's a = 1/2, b = 2/(e^ε+3), p = e^ε/(e^ε+1) with h/w in the place of
// e^ε. Compare the law with the law of no pair: the probability of a report is multiplied by
// h/w when position j holds v and by 1 otherwise, up to a common factor between the
// two. Hence PCKV-UE is ε-LDP. The non-zero positions are found by gaps of an exact geometric
// law. The positions of dummies are independent of the data and are not sent.
//
// PCKV-GRR sends ⟨j, v⟩ with weight h and every other one of the 2(d+ℓ) signed keys
// with weight w, where h/w is at most e^ε, or 1 + ℓ(e^ε−1) for "pckv-agrr". No signed
// key is taken with a probability above 1/ℓ, so no report has a probability outside
// [1, 1+(h/w−1)/ℓ] times w over the total (Lemma 3).
//
// # Reports
//
// A report of PCKV-UE is one uvarint 2·gap+s per non-zero position, in increasing order, where
// gap counts the zeros since the last one and s is 1 for −. Every uvarint has its
// shortest form. The length depends on the noise and on the pair: a report is empty more often
// without a pair than with one. The guarantee covers the length, as it covers all of the report. A party
// that sees only the length, such as one that watches an encrypted connection, learns at most what ε
// allows. Reports are not padded: the longest has a byte for each of the d positions. Rounds with a
// shuffler need reports of one length, and refuse PCKV-UE. PCKV-GRR has one length.
//
// A report of PCKV-GRR is the integer 2·key+s, little-endian, in the least number of bytes that
// holds 2(d+ℓ)−1. Keys from d on are dummies.
package pckv
