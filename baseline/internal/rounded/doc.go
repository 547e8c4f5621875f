// Package rounded draws Gaussian noise rounded down to a grid, exactly, and calibrates
// it. What a mechanism sends is x + floor(noise), x on the grid: that is the continuous
// Gaussian mechanism's output rounded down, a function of that output, so that the
// guarantee is the continuous one's and floating-point numbers have no part in it.
//
// # The law
//
// Let s = √(2^17) ≈ 362, D = D' + ½ with P[D] ∝ exp(−D²/(2s²)) on the half-integers,
// q = 180, and N normal of standard deviation s. Then qD + N has, at every real w, the density
//
//	Σ_D exp(−D²/(2s²))·exp(−(w−qD)²/(2s²)) ∝ exp(−w²/(2S²))·Σ_D exp(−(qD−cw)²/(2r²)),
//	S² = (q²+1)s²,  r² = q²s²/(q²+1),  c = q²/(q²+1),
//
// and by Poisson's summation formula the last sum is a constant up to a factor within
// 1 ± 2.01·exp(−2π²r²/q²) = 1 ± 2^−114: a normal law of standard deviation S ≈ 65168 is had
// by adding numbers from two tables. (Micciancio and Walter, Gaussian Sampling over the
// Integers, CRYPTO 2017, do so with lattices.) Once more, q²D + N for N of standard deviation S,
// and so on, with r/q² again just above 2.
//
// D' and floor(N) come from [table.Table] with weights that are computed with 192 bits. The
// law is within [Distance] of the exact one in total variation: 2^−96.1 for the two tails
// beyond 4096 = 11.3·s of each of two or four tables, 2^−112 for the weights and 2^−114 for
// each sum.
package rounded
