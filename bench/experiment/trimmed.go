package experiment

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/fl"
)

// TrimmedMean returns the mean of the values without the dropLow smallest and the
// dropHigh largest ones, and leaves values as they are. It returns a
// *fl.ParamError when nothing is left, when a value is NaN, and when one that is
// left is infinite. O(n log n).
func TrimmedMean(values []float64, dropLow, dropHigh int) (float64, error) {
	n := len(values)
	switch {
	case dropLow < 0:
		return 0, fmt.Errorf("experiment: %w", fl.Invalid("dropLow", dropLow, "must be at least 0"))
	case dropHigh < 0:
		return 0, fmt.Errorf("experiment: %w", fl.Invalid("dropHigh", dropHigh, "must be at least 0"))
	case dropLow >= n || dropHigh >= n-dropLow:
		return 0, fmt.Errorf("experiment: %w", fl.Invalid("values", fmt.Sprintf("%d values", n), "must be more than dropLow + dropHigh, %d + %d", dropLow, dropHigh))
	}
	if i := slices.IndexFunc(values, math.IsNaN); i >= 0 {
		return 0, fmt.Errorf("experiment: %w", fl.Invalid(fmt.Sprintf("values[%d]", i), values[i], "must not be NaN"))
	}
	kept := slices.Sorted(slices.Values(values))[dropLow : n-dropHigh]
	for _, v := range []float64{kept[0], kept[len(kept)-1]} {
		if math.IsInf(v, 0) {
			return 0, fmt.Errorf("experiment: %w", fl.Invalid("values", v, "must be finite where not dropped"))
		}
	}
	return stat.Mean(kept, nil), nil
}
