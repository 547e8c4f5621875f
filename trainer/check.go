package trainer

import (
	"fmt"
	"math"
	"slices"
)

// maxMagnitude bounds every number that enters a graph or a solver. With three
// layers of fan-in below maxValues = 2^28 < 3e8, a logit is at most
// 1e50 · (3e8 · 1e50)^3 < 1e226 and a partial derivative is smaller still, so
// no intermediate value leaves the range of float64 and no 0·∞ arises.
const maxMagnitude = 1e50

// maxValues bounds the number of elements of any tensor, which is 2 GiB.
const maxValues = 1 << 28

// outOfRange says whether e is NaN, infinite or too large.
func outOfRange(e float64) bool { return !(math.Abs(e) <= maxMagnitude) }

// checkVector says whether v has the length want and only finite, bounded
// elements. O(len(v)).
func checkVector(name string, v []float64, want int) error {
	if len(v) != want {
		return fmt.Errorf("trainer: %s: got length %d, must be %d", name, len(v), want)
	}
	if i := slices.IndexFunc(v, outOfRange); i >= 0 {
		return fmt.Errorf("trainer: %s[%d]: got %g, must be finite and at most %g in magnitude", name, i, v[i], maxMagnitude)
	}
	return nil
}

// volume returns the product of the sides, which the caller has checked to be
// positive, or an error when it exceeds maxValues.
func volume(name string, sides ...int) (int, error) {
	n := 1
	for _, s := range sides {
		if n > maxValues/s {
			return 0, fmt.Errorf("trainer: %s: got shape %v, must have at most %d elements", name, sides, maxValues)
		}
		n *= s
	}
	return n, nil
}
