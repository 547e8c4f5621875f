// Package verify checks whether the code in this binary keeps the guarantee of a round.
// Use it before a round opens, in the tests of a new mechanism, or as an auditor.
// Start with [Round], or with [Mechanism] for a mechanism that is not registered.
//
// There are two methods. The exact method is a proof for the public seeds it tries. The
// statistical method is an attack: it can find a violation and cannot exclude one.
//
// A mechanism may offer a menu of guarantees ([fl.TieredMechanism]). Then each tier is checked
// against its own promise, and the round holds if all of them do.
//
// # Exact
//
// This method needs a mechanism whose choices can be taken from outside ([Enumerable]: coco,
// collision, signsketch; [Preparer]: privunit) and a small domain. The code that makes reports is run
// once for every ternary input, for many seeds of the public hash function and for
// every sequence of random choices. The result is the exact rational law of the report.
// The guarantee holds for these seeds if and only if three things are true. Every law sums
// to 1. All laws have the same support. The largest ratio of two probabilities of a report is
// at most a rational lower bound of e^ε. The seed is public and drawn without a look
// at the input, so the ratio is taken seed by seed.
//
// Inputs are the 2^s·C(d+s, s) vectors that the encoder accepts, dummies included,
// each listed in ascending and in descending order. Gradients come before that.
// Turning a gradient into a ternary vector is pre-processing that ends in one of these
// inputs, whatever it does, and so needs no proof. A few runs of Encode confirm that
// its reports are among the enumerated ones.
//
// A Preparer's inputs are gradients: fifteen of them are tried, of different directions, clipped ones and short
// ones. They are a sample, as the seeds are.
//
// # Statistical
//
// Every other mechanism, and every other round, is attacked. Many reports of
// adversarial pairs of gradients are drawn through Encode. In the local model each is
// estimated by itself, whatever min_reports says: an attacker may compute any function of a
// report. Half of the reports choose the event that distinguishes the two gradients best. The
// other half bound its two probabilities (Clopper, Pearson, "The use of confidence or fiducial
// limits", Biometrika 1934). That gives a lower bound of ε (Jagielski, Ullman, Oprea,
// "Auditing Differentially Private Machine Learning", NeurIPS 2020). A bound above
// the promise is a violation. If no bound is above it, nothing is proved.
package verify
