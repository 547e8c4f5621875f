// Package privunit estimates the mean of dense gradients from five or six bytes per client. Use it where
// many coordinates matter and no shuffler is trusted. Start with a round with the
// mechanism "privunit". [Point] computes the error of such a round.
//
// A report is the seed of public random vectors and the number of one of them. It is
// ε-locally differentially private.
//
// # Mechanism
//
// A client clips its gradient to the L2 norm C = Scale, and turns it by the round's public rotation (package
// rotation) into d' coordinates. d' is a power of two and at least 1024. A seed of 32 bits that the client draws
// gives k public candidates, vectors of d' random signs. The client ranks them by their scalar product with its rotated gradient x.
// It draws one candidate: the r best have the weight A, the others B, A/B ≤ e^ε. The report
// is the seed and the candidate's number.
//
// A gradient of norm ρ·C, ρ ≤ 1, is ranked as x with probability (1+ρ)/2, and as −x otherwise. A
// gradient of zeros takes the first coordinate's direction or its opposite by a fair coin.
//
// # Privacy
//
// For a seed, every gradient gives every report with the probability A/Ω or B/Ω, Ω = r·A + (k−r)·B,
// or with an average of the two. So a report is ε-differentially private against everybody, replace-one,
// without δ. A, B and all probabilities are ratios of integers (package fl/exact). Nothing of this depends on the candidates,
// on the rotation or on rounding: they decide which candidates are the best ones, and so the accuracy. Package privacy/verify
// enumerates the code. The privacy blanket with s = r and t = k covers the shuffled reports.
//
// # Estimation
//
// The server computes the one candidate V of each report and counts signs. It rotates back once. With u for the
// rotated unit vector, E V = m·u, where m is the slope: (A−B)/Ω times the expected sum of the r largest of
// k normal variables, corrected for sums of signs. The mean of n reports is C/(m·n)·ΣV, rotated back.
//
// The squared error of one report is C²·((d − 1 + q)/m² − 1), where q = E⟨V, u⟩² (see [Point.MSE]). At
// d = 650, k = 256 and the best r it is 4140, 1059, 287 and 96 times C² at ε = 1, 2, 4 and 8. Real-number PrivUnitG (bench/privunitg) has
// 4121, 1052, 283 and 87. More candidates lower the error at large ε. They do not help at ε ≤ 4.
//
// Where all clients hold one gradient, the mean is off by up to about 4/d' of its norm whatever the number of
// clients, in a direction of the round's own. Standard errors contain that.
//
// # Cost
//
// Encode takes k·d' signs: 0.08 ms at k = 256 and d' = 1024. A server takes about 0.1 ns for a report and a
// coordinate, and one rotation. A report has 4 bytes and as many as k−1 needs. An aggregator has 4 bytes for each rotated
// coordinate, and a snapshot at most 5. Scale is in [2^-900, 2^900].
//
// Sources: Bhowmick, Duchi, Freudiger, Kapoor and Rogers, Protection Against Reconstruction and Its Applications in Private Federated
// Learning, 2018 (PrivUnit); Asi, Feldman and Talwar, Optimal Algorithms for Mean Estimation under Local
// Differential Privacy, ICML 2022 (PrivUnitG); Feldman and Talwar, Lossless Compression of Efficient
// Private Local Randomizers, ICML 2021, and Shah, Chen, Ballé, Kairouz and Theis, Optimal Compression of Locally Differentially Private Mechanisms, AISTATS 2022 (a seed
// and an index in the place of a vector).
package privunit
