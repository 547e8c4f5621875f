// Package dataset supplies labelled pictures in memory, for the demo and for experiments: digits drawn
// from fonts, textured things drawn by a law, or MNIST where a caller asks for it.
// Use it to train on something everybody knows. Start with [Load].
//
// # What to call first
//
// [Load] returns a train and a test [Set] from the source that [Options].Source
// names. There are four, none stands in for another, and [Data] says which
// one it was:
//
//  1. [Generated], the zero value: digits drawn from the outlines of Go's own
//     fonts. They need no network and no file, and depend only on the seed.
//     [Generate] draws them, too.
//  2. [Textures]: clothes, shoes and bags of textured cloth, drawn by a law with random
//     measures. They stand in for pictures with texture, and depend only on the seed.
//  3. [Download]: MNIST from the user's cache directory or, once, from a public
//     mirror. A file counts only if its SHA-256 is the pinned one.
//  4. Anything else is a directory. The four MNIST files, or four files of one split of EMNIST, must be
//     there and be well formed. Their labels are of [Options].Classes classes.
//
// [OpenFeatures] returns a map of pictures to vectors on which a model learns better, and
// [Data.In] applies it.
//
// # Shapes and memory
//
// A [Set] of n images keeps n·Rows·Cols float64 values in [0,1] in one slice,
// 0 for paper and 1 for ink: 376 MB for the 60 000 training images of MNIST.
// Options.TrainSize and Options.TestSize load less.
//
// # Limits
//
// An idx stream may declare at most 2^20 items, 256 rows, 256 columns, and
// 2^28 pixels in all; memory grows with the bytes that arrive, not with those
// that the header promises, so a short stream or a gzip bomb stays cheap.
// Labels are of one byte, or of two for more than 256 classes. A download is at most 16 MB a file and two minutes in all.
//
// Generated digits are easier than MNIST in some ways and harder in others.
// Accuracy on them shows that training works, and is not to be compared with
// published accuracy on MNIST.
//
// # Sources
//
// Format and data: Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database
// of handwritten digits", http://yann.lecun.com/exdb/mnist; Y. LeCun, L. Bottou,
// Y. Bengio and P. Haffner, "Gradient-based learning applied to document
// recognition", Proceedings of the IEEE 86(11), 1998, section III.A, which also
// describes the 20×20 box and the centring by mass that the generated digits
// follow. Fonts: C. Bigelow, K. Holmes and others, the Go fonts,
// https://go.dev/blog/go-fonts.
package dataset
