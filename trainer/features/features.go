// Package features holds fixed maps from an example, such as a picture, to a short vector on which a
// linear model learns well. Use one in front of a model whose gradients are noisy: the fewer and
// the better the inputs, the less the noise costs. Start with [Features].
//
// A map is fixed before any client takes part, and is made from public data alone. It looks at one
// example at a time. So it costs no privacy.
//
// # Maps
//
//   - [Edges], [Scatter] and [Grey] are for grey pictures of any size; [Identity] leaves examples as they
//     are. They are formulas: nothing in them is learned.
//   - [Fit] adds to a map what public examples say of it: logarithms, sizes of channels, a mean, and the
//     principal components. [NewPipeline] does the same with numbers that are at hand.
//   - A map of one's own is a type with the five methods of [Features]; see the example of Fit.
//
// [All] computes the vectors of many examples on all cores. [ID] is what a round says of its features, so
// that clients can check that they compute the same.
package features

import "encoding/hex"

// Features is a fixed map from one example to a vector. It is safe for concurrent use.
type Features interface {
	// Inputs is the number of values of an example. Dim is the number of values of its vector.
	Inputs() int
	Dim() int
	// Apply writes the vector of x into dst. x has Inputs() values and dst has Dim(); another
	// length is a mistake of the program and panics.
	Apply(dst, x []float64)
	// Digest identifies the map: its kind, its settings and all of its weights. Equal digests
	// mean equal maps, up to the rounding of floating-point numbers.
	Digest() [32]byte
	// String names the map and its settings, for example "edges of 4×4 pixels".
	String() string
}

// ID returns what a Round says of features: the name by which others know them, a colon and the digest
// in hexadecimal. See fl.Round.Features and fl.Policy.Features.
func ID(name string, f Features) string {
	digest := f.Digest()
	return name + ":" + hex.EncodeToString(digest[:])
}
