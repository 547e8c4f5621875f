// Package ternaries has two rules of papers that turn a dense gradient into signs. Use it to compare them with
// ternarize.Sampler, whose vectors the mechanisms encode. Start with [NewTopS] or [TernGrad].
//
//   - [TopS]: the s largest entries, biased, with the error fed back into the
//     next call (Stich, Cordonnier, Jaggi, "Sparsified SGD with Memory", 2018).
//   - [TernGrad]: every entry becomes −1, 0 or +1, unbiased, at a scale that
//     depends on the gradient (Wen et al., "TernGrad", 2017).
//
// A ternary vector is not private by itself. It stays on the client.
package ternaries

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
)

func signOf(g float64) int8 {
	if g < 0 {
		return -1
	}
	return 1
}

func notFinite(j int, g float64) error {
	return invalid("gradient", g, "must be finite, coordinate %d is not", j)
}

// invalid returns the error of every check of the package.
func invalid(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("ternaries: %w", fl.Invalid(param, got, rule, args...))
}
