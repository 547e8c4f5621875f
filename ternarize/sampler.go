package ternarize

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// Sampler draws s signed coordinates out of a gradient so that the result,
// times τ, is the clipped gradient on average.
//
// The gradient is clipped twice: every |g_j| is capped at τ, and then all are
// scaled down until Σ|g_j| ≤ τ·s. Coordinate j is drawn with probability
// π_j = |clip(g)_j|/τ by systematic sampling over a random start (Madow, "On
// the theory of systematic sampling II", 1949), which fixes the number of drawn
// coordinates to ⌊Σπ⌋ or ⌈Σπ⌉ ≤ s. Dummy coordinates fill it up to s.
//
// Sampling is done in integers: |g_j|/τ is first rounded down to a multiple of
// 2^−k, k = min(52, 62−⌈log2 d⌉), and everything after that is exact.
//
// A Sampler is reused without allocating and is not safe for concurrent use.
type Sampler struct {
	dim, sparsity int
	scale         float64
	unit          uint64 // integer weight of probability 1
	weights       []uint64
	index         []uint32
	sign          []int8
}

// NewSampler returns a Sampler for gradients of dim coordinates in
// [1, fl.MaxDim], 1 ≤ sparsity ≤ dim, and a scale τ in [2^−900, 2^900]: the quotient of two
// numbers in that range neither overflows nor vanishes.
func NewSampler(dim, sparsity int, scale float64) (*Sampler, error) {
	if err := checkShape(dim, sparsity, scale); err != nil {
		return nil, err
	}
	shift := min(52, 62-bits.Len(uint(dim)))
	return &Sampler{
		dim:      dim,
		sparsity: sparsity,
		scale:    scale,
		unit:     1 << shift,
		weights:  make([]uint64, dim),
		index:    make([]uint32, 0, sparsity),
		sign:     make([]int8, 0, sparsity),
	}, nil
}

func checkShape(dim, sparsity int, scale float64) error {
	switch {
	case dim < 1 || dim > fl.MaxDim:
		return invalid("dim", dim, "must be in [1, %d]", fl.MaxDim)
	case sparsity < 1 || sparsity > dim:
		return invalid("sparsity", sparsity, "must be in [1, dim = %d]", dim)
	case !(scale >= 0x1p-900 && scale <= 0x1p900):
		return invalid("scale", scale, "must be in [2^-900, 2^900]")
	}
	return nil
}

// Sample draws one ternary vector with exactly s entries, dummies included. It
// is valid until the next call. A nil rng means a fresh fl.NewRand. NaN, Inf and a
// wrong length are errors. O(d).
func (s *Sampler) Sample(grad []float64, rng *rand.Rand) (fl.Ternary, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	period, err := s.weigh(grad)
	if err != nil {
		return fl.Ternary{}, err
	}
	return s.drawAt(grad, rng.Uint64N(period), period), nil
}

// weigh fills s.weights and returns the sampling period: coordinate j is to be
// drawn with probability weights[j]/period.
func (s *Sampler) weigh(grad []float64) (period uint64, err error) {
	if len(grad) != s.dim {
		return 0, invalid("gradient", len(grad), "must have dim = %d coordinates", s.dim)
	}
	perUnit := float64(s.unit) / s.scale
	unit := float64(s.unit)
	weights := s.weights[:len(grad)]
	var sum uint64
	for j, g := range grad {
		w := math.Abs(g) * perUnit
		if !(w < unit) {
			if math.IsNaN(g) || math.IsInf(g, 0) {
				return 0, notFinite(j, g)
			}
			w = unit
		}
		// By way of int64, which takes one instruction: w is at most 2^52.
		weights[j] = uint64(int64(w))
		sum += weights[j]
	}
	// A period above the unit is the L1 clip: it scales every probability by
	// unit/period, just enough for their sum to be at most s.
	period = (sum + uint64(s.sparsity) - 1) / uint64(s.sparsity)
	return max(period, s.unit), nil
}

// drawAt takes the coordinates on whose interval of the cumulated weights one
// of the points start, start+period, start+2·period, … lies. start < period.
func (s *Sampler) drawAt(grad []float64, start, period uint64) fl.Ternary {
	s.index, s.sign = s.index[:0], s.sign[:0]
	left := start // distance from the cumulated weight to the next point
	for j, w := range s.weights {
		if left >= w {
			left -= w
			continue
		}
		left += period - w
		s.index = append(s.index, uint32(j))
		s.sign = append(s.sign, signOf(grad[j]))
	}
	for dummy := uint32(s.dim); len(s.index) < s.sparsity; dummy++ {
		s.index = append(s.index, dummy)
		s.sign = append(s.sign, 1)
	}
	return fl.Ternary{Dim: s.dim, Index: s.index, Sign: s.sign}
}

func signOf(g float64) int8 {
	if g < 0 {
		return -1
	}
	return 1
}

func notFinite(j int, g float64) error {
	return invalid("gradient", g, "must be finite, coordinate %d is not", j)
}

// invalid returns the error of every check of the package.
func invalid(param string, got any, rule string, args ...any) error {
	return fmt.Errorf("ternarize: %w", fl.Invalid(param, got, rule, args...))
}
