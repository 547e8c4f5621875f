package keyvalue

import (
	"fmt"
	"math"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// Simplex sets dst to the point of {x : x_j ≥ 0, Σ x_j = total} closest to v in the
// Euclidean norm. dst and v have the same length and may be the same slice.
//
// It returns a *fl.ParamError (wrapped) and leaves dst alone unless v is finite, not
// empty, and total is finite and ≥ 0. The sum of dst is total up to rounding.
//
// Source: Duchi, Shalev-Shwartz, Singer, Chandra, Efficient Projections onto the
// L1-Ball for Learning in High Dimensions, ICML 2008, Figure 1; Wang and Lu,
// Projection onto the Probability Simplex, arXiv 1309.1541. O(d log d) in time, O(d)
// in memory.
func Simplex(dst, v []float64, total float64) error {
	if err := check(dst, v, "total", total); err != nil {
		return fmt.Errorf("keyvalue: simplex: %w", err)
	}
	if len(v) == 0 {
		return fmt.Errorf("keyvalue: simplex: %w", fl.Invalid("v", "nothing", "must have a coordinate"))
	}
	cut := newCut(slices.Clone(v), total)
	for j, x := range v {
		dst[j] = cut.apply(x)
	}
	return nil
}

// L1Ball sets dst to the point of {x : Σ |x_j| ≤ radius} closest to v in the
// Euclidean norm: v itself if it is inside, and else the projection of the absolute
// values onto the simplex, with the signs of v. Arguments, errors, cost and source
// are Simplex's, but v may be empty.
func L1Ball(dst, v []float64, radius float64) error {
	if err := check(dst, v, "radius", radius); err != nil {
		return fmt.Errorf("keyvalue: l1 ball: %w", err)
	}
	magnitudes, norm := make([]float64, len(v)), 0.0
	for j, x := range v {
		magnitudes[j] = math.Abs(x)
		norm += magnitudes[j] // +Inf at worst, which is outside
	}
	if norm <= radius {
		copy(dst, v)
		return nil
	}
	cut := newCut(magnitudes, radius)
	for j, x := range v {
		dst[j] = math.Copysign(cut.apply(math.Abs(x)), x)
	}
	return nil
}

// cut is the soft threshold top + level, kept in two parts so that it has the digits
// of the projection and not the digits of v.
type cut struct{ top, level float64 }

// apply returns the part of x above the threshold. x − top may be −Inf, not +Inf.
func (c cut) apply(x float64) float64 { return max((x-c.top)-c.level, 0) }

// newCut returns the threshold above which the parts of v sum to total. It overwrites
// v, which is not empty.
func newCut(v []float64, total float64) cut {
	c := cut{top: slices.Max(v), level: -total}
	slices.SortFunc(v, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	// The mean of (x − top) over the k largest, less total/k, as long as the next one
	// is above it: a running mean does not overflow.
	for k := 1; k < len(v) && v[k]-c.top > c.level; k++ {
		c.level += (v[k] - c.top - c.level) / float64(k+1)
	}
	return c
}

func check(dst, v []float64, name string, size float64) error {
	if !(size >= 0) || math.IsInf(size, 1) {
		return fl.Invalid(name, size, "must be finite and >= 0")
	}
	if len(dst) != len(v) {
		return fl.Invalid("dst", len(dst), "must have the length of v, %d", len(v))
	}
	for j, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fl.Invalid("v", x, "must be finite, coordinate %d is not", j)
		}
	}
	return nil
}
