package trainer

import (
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// invalid returns an error that wraps a *fl.ParamError.
func invalid(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("trainer: %w", fl.Invalid(param, got, rule, args...))
}

// maxMagnitude bounds every number that enters a graph or a solver. With five
// layers of fan-in below maxValues = 2^28 < 3e8, a logit is at most
// 1e40 · (3e8 · 1e40)^5 < 1e283 and a partial derivative is smaller still, so
// no intermediate value leaves the range of float64 and no 0·∞ arises.
const maxMagnitude = 1e40

// maxValues bounds the number of elements of any tensor, which is 2 GiB.
const maxValues = 1 << 28

// outOfRange says whether e is NaN, infinite or too large.
func outOfRange(e float64) bool { return !(math.Abs(e) <= maxMagnitude) }

// checkVector says whether v has the length want and only finite, bounded
// elements. O(len(v)).
func checkVector(name string, v []float64, want int) error {
	if len(v) != want {
		return invalid(name, len(v), "must have %d elements", want)
	}
	if i := slices.IndexFunc(v, outOfRange); i >= 0 {
		return invalid(fmt.Sprintf("%s[%d]", name, i), v[i], "must be finite and at most %g in magnitude", maxMagnitude)
	}
	return nil
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
