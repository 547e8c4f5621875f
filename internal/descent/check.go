package descent

import (
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// invalid names what a caller may know: no package stands before it, so that a caller puts its own there.
func invalid(param string, got any, rule string, args ...any) error {
	return fl.Invalid(param, got, rule, args...)
}

// MaxMagnitude bounds every number that enters a graph or a step. With five
// layers of fan-in below MaxValues = 2^28 < 3e8, a logit is at most
// 1e40 · (3e8 · 1e40)^5 < 1e283 and a partial derivative is smaller still, so
// no intermediate value leaves the range of float64 and no 0·∞ arises.
const MaxMagnitude = 1e40

// MaxValues bounds the number of elements of any vector, which is 2 GiB.
const MaxValues = 1 << 28

// OutOfRange says whether e is NaN, infinite or too large.
func OutOfRange(e float64) bool { return !(math.Abs(e) <= MaxMagnitude) }

// CheckVector says whether v has the length want and only finite, bounded
// elements. O(len(v)).
func CheckVector(name string, v []float64, want int) error {
	if len(v) != want {
		return invalid(name, len(v), "must have %d elements", want)
	}
	if i := slices.IndexFunc(v, OutOfRange); i >= 0 {
		return invalid(fmt.Sprintf("%s[%d]", name, i), v[i], "must be finite and at most %g in magnitude", MaxMagnitude)
	}
	return nil
}

// checkMoments is CheckVector for sums, which may be larger than what enters them.
func checkMoments(name string, v []float64, want int) error {
	if len(v) != want {
		return invalid(name, len(v), "must have %d elements", want)
	}
	if i := slices.IndexFunc(v, func(e float64) bool { return math.IsNaN(e) || math.IsInf(e, 0) }); i >= 0 {
		return invalid(fmt.Sprintf("%s[%d]", name, i), v[i], "must be finite")
	}
	return nil
}
