// Package ternarize turns a dense gradient into a sparse vector of signs.
// Use it to compare rules, or to give coco, collision and signsketch vectors of your own.
// Start with [NewSampler], the rule that their Encode applies by itself.
//
// Three rules are offered:
//
//   - [Sampler]: exactly s entries, unbiased for the clipped gradient, the same public
//     scale τ for all clients.
//   - [TopS]: the s largest entries, biased, with the error fed back into the
//     next call (Stich, Cordonnier, Jaggi, "Sparsified SGD with Memory", 2018).
//   - [TernGrad]: every entry becomes −1, 0 or +1, unbiased, at a scale that
//     depends on the gradient (Wen et al., "TernGrad", 2017).
//
// Gradients are flat vectors. A model with several tensors flattens them in an
// order of its own that all clients share.
//
// A ternary vector is not private by itself. It stays on the client, which gives it to
// a mechanism.
package ternarize
