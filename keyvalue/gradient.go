package keyvalue

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// Pairs returns the non-zero coordinates of a gradient as key-value pairs: values in
// units of scale, clipped to [−1, 1]. It is the first half of the Encode of
// mechanisms over key-value pairs. It returns a *fl.ParamError when grad has not dim
// coordinates or one of them is NaN or infinite. O(dim).
func Pairs(grad []float64, dim int, scale float64) ([]fl.KeyValue, error) {
	if len(grad) != dim {
		return nil, fl.Invalid("gradient", len(grad), "must have dim = %d coordinates", dim)
	}
	var pairs []fl.KeyValue
	for j, g := range grad {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return nil, fl.Invalid("gradient", g, "must be finite, coordinate %d is not", j)
		}
		if g != 0 {
			pairs = append(pairs, fl.KeyValue{Key: uint32(j), Value: min(max(g/scale, -1), 1)})
		}
	}
	return pairs, nil
}
