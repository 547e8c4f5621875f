// Package recipe makes the weights of the public glyph features from handwriting fonts alone.
// Use it to make them again, or others of another size. Start with [Faces], [NewSet] and
// [Train]; go run ./bench pretrain does all of it.
//
// The package draws every picture that it trains on. It cannot read pictures from a file,
// and a test of the module keeps it so.
package recipe

// Characters are the classes, in order: the ten digits and the letters of both cases.
const Characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Digits is the number of the first classes that are digits.
const Digits = 10
