// Package ternarize turns a dense gradient into a sparse vector of signs. Use it to choose the
// vectors that coco, collision and signsketch encode. Start with [NewSampler]: the Encode methods
// of these mechanisms use a [Sampler] by themselves.
//
// A vector has exactly s entries and is unbiased for the clipped gradient, at the same public
// scale τ for all clients. The laboratory has two other rules of papers, in bench/ternaries.
//
// Gradients are flat vectors. A model with several tensors flattens them in an
// order of its own that all clients share.
//
// A ternary vector is not private by itself. It stays on the client, which gives it to
// a mechanism.
package ternarize
