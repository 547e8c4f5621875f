package privacy

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// invalidComposition returns a *fl.ParamError with the prefix of the package.
func invalidComposition(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("compose: %w", fl.Invalid(param, got, rule, args...))
}

// checkComposedEpsilon accepts a finite ε of at least 0.
func checkComposedEpsilon(epsilon float64) error {
	if !(epsilon >= 0 && !math.IsInf(epsilon, 1)) {
		return invalidComposition("epsilon", epsilon, "must be finite and >= 0")
	}
	return nil
}

// checkCount accepts a number of mechanisms.
func checkCount(param string, count int) error {
	if count < 1 || count > MaxCount {
		return invalidComposition(param, count, "must be in [1, %d]", MaxCount)
	}
	return nil
}

// within accepts a parameter of one mechanism in [lo, hi].
func within(param string, got, lo, hi float64) error {
	if !(got >= lo && got <= hi) {
		return fl.Invalid(param, got, "must be in [%v, %v]", lo, hi)
	}
	return nil
}
