// Package glyph draws characters of fonts as small grey pictures that look handwritten.
// Use it wherever pictures of characters must come from fonts alone and not from a file.
// Start with [Digits] for the Go fonts or [Read] for a font of your own, and [NewPen].
//
// The pictures are laid out like MNIST's: the longer side of the ink measures 18 to
// 21 of 28 pixels, and the centre of its mass is near the middle.
package glyph

// Side is the height and width of a picture, in pixels.
const Side = 28
