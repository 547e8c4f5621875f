package trainer

import (
	"fmt"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/descent"
	"github.com/hushgrad/hushgrad/internal/prefix"
)

// invalid returns an error that wraps a *fl.ParamError.
func invalid(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("trainer: %w", fl.Invalid(param, got, rule, args...))
}

// The limits of all numbers and vectors.
const (
	maxMagnitude = descent.MaxMagnitude
	maxValues    = descent.MaxValues
)

// outOfRange says whether e is NaN, infinite or too large.
func outOfRange(e float64) bool { return descent.OutOfRange(e) }

// checkVector says whether v has the length want and only finite, bounded
// elements. O(len(v)).
func checkVector(name string, v []float64, want int) (err error) {
	defer prefix.Error(&err, "trainer")
	return descent.CheckVector(name, v, want)
}

// volume returns the product of the sides, which the caller has checked to be
// positive, or an error when it exceeds maxValues.
func volume(name string, sides ...int) (int, error) {
	n := 1
	for _, s := range sides {
		if n > maxValues/s {
			return 0, invalid(name, sides, "must have at most %d elements", maxValues)
		}
		n *= s
	}
	return n, nil
}
