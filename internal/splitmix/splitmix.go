// Package splitmix is the generator SplitMix64. The hash families stretch public seeds with
// it. It is not for private randomness. Start with [Keyed], which returns the start of a
// stream; output i is Mix(start + i·Gamma).
//
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014,
// with variant 13 of Stafford's constants.
package splitmix

// Gamma is the odd integer closest to 2^64 divided by the golden ratio.
const Gamma = 0x9E3779B97F4A7C15

// Mix is the generator's finalizer, a bijection of the 64-bit integers.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Keyed returns the start of the stream of a 32-bit seed under two public keys.
func Keyed(key0, key1 uint64, seed uint32) uint64 {
	return Mix(Mix(key0+Gamma*(uint64(seed)+1)) ^ key1)
}
