package ternaries

import (
	"math"

	"github.com/hushgrad/hushgrad/fl"
)

// TopS keeps the s entries of largest magnitude and remembers what it left
// out: each call works on the gradient plus the memory, and the memory becomes
// what the ternary vector, times τ, does not express (error feedback, Stich,
// Cordonnier, Jaggi 2018, Algorithm 1). A single result is biased.
//
// The memory holds private data and belongs to one client. A TopS is reused
// without allocating and is not safe for concurrent use.
type TopS struct {
	dim, sparsity int
	scale         float64
	memory        []float64
	scratch       []float64
	index         []uint32
	sign          []int8
}

// NewTopS returns a TopS with an empty memory. The arguments have the limits of
// ternarize.NewSampler: dim in [1, fl.MaxDim], 1 ≤ sparsity ≤ dim, and a scale τ in [2^−900, 2^900].
func NewTopS(dim, sparsity int, scale float64) (*TopS, error) {
	switch {
	case dim < 1 || dim > fl.MaxDim:
		return nil, invalid("dim", dim, "must be in [1, %d]", fl.MaxDim)
	case sparsity < 1 || sparsity > dim:
		return nil, invalid("sparsity", sparsity, "must be in [1, dim = %d]", dim)
	case !(scale >= 0x1p-900 && scale <= 0x1p900):
		return nil, invalid("scale", scale, "must be in [2^-900, 2^900]")
	}
	return &TopS{
		dim:      dim,
		sparsity: sparsity,
		scale:    scale,
		memory:   make([]float64, dim),
		scratch:  make([]float64, dim),
		index:    make([]uint32, 0, sparsity),
		sign:     make([]int8, 0, sparsity),
	}, nil
}

// Sample returns the signs of the s largest entries, ties broken by the lower
// index; zeros are replaced by dummies. It is valid until the next call. NaN,
// Inf and a wrong length are errors and leave the memory as it was. Expected
// O(d).
func (t *TopS) Sample(grad []float64) (fl.Ternary, error) {
	if len(grad) != t.dim {
		return fl.Ternary{}, invalid("gradient", len(grad), "must have dim = %d coordinates", t.dim)
	}
	for j, g := range grad {
		sum := math.Abs(t.memory[j] + g)
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			return fl.Ternary{}, notFinite(j, t.memory[j]+g)
		}
		t.scratch[j] = sum
	}
	for j, g := range grad {
		t.memory[j] += g
	}
	threshold := selectLargest(t.scratch, t.sparsity)
	t.index, t.sign = t.index[:0], t.sign[:0]
	above := 0
	for _, m := range t.memory {
		if math.Abs(m) > threshold {
			above++
		}
	}
	ties := t.sparsity - above
	for j, m := range t.memory {
		a := math.Abs(m)
		if a == threshold && ties > 0 && a > 0 {
			ties--
		} else if !(a > threshold) {
			continue
		}
		sign := signOf(m)
		t.index = append(t.index, uint32(j))
		t.sign = append(t.sign, sign)
		t.memory[j] -= float64(sign) * t.scale
	}
	for dummy := uint32(t.dim); len(t.index) < t.sparsity; dummy++ {
		t.index = append(t.index, dummy)
		t.sign = append(t.sign, 1)
	}
	return fl.Ternary{Dim: t.dim, Index: t.index, Sign: t.sign}, nil
}

// Memory returns a copy of what has not been expressed yet.
func (t *TopS) Memory() []float64 { return append([]float64(nil), t.memory...) }

// selectLargest returns the k-th largest element of a, 1 ≤ k ≤ len(a), and
// permutes a. Quickselect with the median of three as pivot.
func selectLargest(a []float64, k int) float64 {
	lo, hi := 0, len(a)-1
	for lo < hi {
		pivot := medianOf3(a[lo], a[lo+(hi-lo)/2], a[hi])
		i, j := lo, hi
		for i <= j {
			for a[i] > pivot {
				i++
			}
			for a[j] < pivot {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return pivot
		}
	}
	return a[lo]
}

func medianOf3(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
