// Package rotation spreads a vector evenly over its coordinates. Use it before coordinates are
// rounded, clipped or summed one by one. Start with [New]: client and server make the same
// [Rotation] from the same 32 public bytes, the key. The key hides nothing.
//
// It is a randomized Hadamard transform.
//
//	r, err := rotation.New(dim, key)      // the same key on the client and the server
//	err = r.Forward(rotated, x)           // client: ±1 signs, then the transform
//	err = r.Inverse(estimate, sum)        // server
//
// After rotation no coordinate of a vector of length ‖x‖₂ is far above ‖x‖₂, if the vector
// was chosen without knowledge of the signs. [Bound] says how far. A sum over one
// coordinate then needs a range of about ‖x‖₂·√(2 ln …), where the worst vector would need
// ‖x‖₂·√d'.
//
// # Definition
//
// A vector x of dim coordinates is padded with zeros to d' = 2^⌈log2 dim⌉. With H the
// Hadamard matrix of order d' in natural order, entries ±1, and P the diagonal matrix of
// the signs,
//
//	Forward(x) = H·P·pad(x),     Inverse(y) = the first dim entries of P·H·y/d'.
//
// H is not normalised: integers stay integers, and ‖Forward(x)‖₂ = √d'·‖x‖₂. As
// H·H = d'·I, Inverse undoes Forward and is linear, so it may be applied to a sum or a
// mean of rotated vectors.
//
// # Signs
//
// The signs are public. They come from the 32-byte key by a rule that another language can
// follow: let w_0, w_1, … be the 64-bit outputs of ChaCha8 with the key as its seed, as
// specified in chacha8rand by the C2SP project (c2sp.org/chacha8rand) and implemented by
// math/rand/v2. The sign of coordinate i is −1 if bit i mod 64 of w_⌊i/64⌋ is one, bit 0
// being the least significant, and +1 otherwise. Padding has no sign: it is zero.
//
// The vectors must not depend on the signs, or Bound does not hold. Draw the key after
// the data is fixed, or use a fresh one for every round.
//
// A rotation is not private by itself. Inverse undoes it.
//
// # Sources
//
// Ailon and Chazelle, The Fast Johnson–Lindenstrauss Transform and Approximate Nearest
// Neighbors, SIAM Journal on Computing 39(1), 2009, section 2; for private sums: Kairouz,
// Liu and Steinke, The Distributed Discrete Gaussian Mechanism for Federated Learning
// with Secure Aggregation, ICML 2021, section 4.
package rotation
