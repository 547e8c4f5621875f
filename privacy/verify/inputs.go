package verify

import (
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/hushgrad/hushgrad/fl"
)

// countInputs is the length of allInputs, or anything above limit when that is more.
func countInputs(dim, sparsity, limit int) int {
	count := 1
	if sparsity > 1 {
		count = 2
	}
	for i := 1; i <= sparsity; i++ {
		// C(dim+i, i)·2^i grows with i, so stopping early is right.
		if count > limit {
			return count
		}
		// count holds C(dim+i−1, i−1) as a factor; the division is exact.
		count = count * 2 * (dim + i) / i
	}
	return count
}

// allInputs lists every ternary vector with exactly s entries over dim coordinates
// and s dummies, in ascending order of the indices and, where that differs, again in
// descending order.
func allInputs(dim, sparsity int) []fl.Ternary {
	var out []fl.Ternary
	for _, set := range combin.Combinations(dim+sparsity, sparsity) {
		for signs := range 1 << sparsity {
			x := fl.Ternary{Dim: dim, Index: make([]uint32, sparsity), Sign: make([]int8, sparsity)}
			for i, j := range set {
				x.Index[i], x.Sign[i] = uint32(j), 1
				if signs>>i&1 == 1 {
					x.Sign[i] = -1
				}
			}
			out = append(out, x)
			if sparsity > 1 {
				y := fl.Ternary{Dim: dim, Index: slices.Clone(x.Index), Sign: slices.Clone(x.Sign)}
				slices.Reverse(y.Index)
				slices.Reverse(y.Sign)
				out = append(out, y)
			}
		}
	}
	return out
}
