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
// Gradients of float32 are sampled as they are. The same numbers as float64 give the same result.
//
// A Sampler is reused without allocating and is not safe for concurrent use.
type Sampler struct {
	dim, sparsity int
	rule          weighing
	blocks        []uint64 // of the weights of blockSize coordinates each, the sum
	index         []uint32
	sign          []int8
}

// blockSize is the number of coordinates that are passed over at once when no point lies on them.
const blockSize = 16

// number is a coordinate of a gradient.
type number interface{ float32 | float64 }

// weighing turns coordinates into integer weights.
type weighing struct {
	perUnit float64 // weights in a unit of the gradient
	unit    float64 // weight of probability 1, a power of two
}

// weight is |g|/τ, at most 1, as an integer. It has no branch. Gradients with many clipped
// coordinates would take a branch at random.
func (r weighing) weight(g float64) uint64 {
	return uint64(int64(min(math.Abs(g)*r.perUnit, r.unit))) // int64 takes one instruction
}

// NewSampler returns a Sampler for gradients of dim coordinates in
// [1, fl.MaxDim], 1 ≤ sparsity ≤ dim, and a scale τ in [2^−900, 2^900]: the quotient of two
// numbers in that range neither overflows nor vanishes.
func NewSampler(dim, sparsity int, scale float64) (*Sampler, error) {
	if err := checkShape(dim, sparsity, scale); err != nil {
		return nil, err
	}
	unit := float64(uint64(1) << min(52, 62-bits.Len(uint(dim))))
	return &Sampler{
		dim:      dim,
		sparsity: sparsity,
		rule:     weighing{perUnit: unit / scale, unit: unit},
		blocks:   make([]uint64, (dim+blockSize-1)/blockSize),
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
	return sample(s, grad, rng)
}

// SampleFloat32 is Sample for a gradient of float32. The same numbers and the same generator give
// the same vector.
func (s *Sampler) SampleFloat32(grad []float32, rng *rand.Rand) (fl.Ternary, error) {
	return sample(s, grad, rng)
}

func sample[F number](s *Sampler, grad []F, rng *rand.Rand) (fl.Ternary, error) {
	if rng == nil {
		rng = fl.NewRand()
	}
	period, err := weigh(s, grad)
	if err != nil {
		return fl.Ternary{}, err
	}
	return drawAt(s, grad, rng.Uint64N(period), period), nil
}

// weigh fills s.blocks and returns the sampling period: coordinate j is to be
// drawn with probability weight/period.
func weigh[F number](s *Sampler, grad []F) (period uint64, err error) {
	if len(grad) != s.dim {
		return 0, invalid("gradient", len(grad), "must have dim = %d coordinates", s.dim)
	}
	weighed, finite := weighVectors(s.blocks, grad, s.rule)
	if !finite || !weighBlocks(s.blocks[weighed:], grad[weighed*blockSize:], s.rule) {
		return 0, firstNotFinite(grad)
	}
	var sum uint64
	for _, inBlock := range s.blocks {
		sum += inBlock
	}
	// A period above the unit is the L1 clip: it scales every probability by
	// unit/period, just enough for their sum to be at most s.
	period = (sum + uint64(s.sparsity) - 1) / uint64(s.sparsity)
	return max(period, uint64(s.rule.unit)), nil
}

// weighBlocks writes the sums of the weights of all blocks, and reports whether all coordinates are
// finite.
func weighBlocks[F number](blocks []uint64, grad []F, r weighing) bool {
	for b := range blocks {
		var inBlock uint64
		finite := 0.0 // NaN as soon as a coordinate is NaN or Inf
		for _, g := range blockOf(grad, b) {
			g := float64(g)
			inBlock += r.weight(g)
			finite += g - g
		}
		if finite != 0 {
			return false
		}
		blocks[b] = inBlock
	}
	return true
}

func firstNotFinite[F number](grad []F) error {
	for j, g := range grad {
		if g := float64(g); math.IsNaN(g) || math.IsInf(g, 0) {
			return notFinite(j, g)
		}
	}
	return nil
}

// blockOf returns the coordinates of a block.
func blockOf[F number](grad []F, b int) []F {
	return grad[b*blockSize : min((b+1)*blockSize, len(grad))]
}

// drawAt takes the coordinates on whose interval of the cumulated weights one
// of the points start, start+period, start+2·period, … lies. start < period.
func drawAt[F number](s *Sampler, grad []F, start, period uint64) fl.Ternary {
	s.index, s.sign = s.index[:0], s.sign[:0]
	left := start // distance from the cumulated weight to the next point
	for b, inBlock := range s.blocks {
		if left >= inBlock {
			left -= inBlock
			continue
		}
		from, rest := left, inBlock // where the walk began, and what was ahead then
		for j, g := range blockOf(grad, b) {
			w := s.rule.weight(float64(g))
			if left >= w {
				left -= w
				continue
			}
			s.index = append(s.index, uint32(b*blockSize+j))
			s.sign = append(s.sign, signOf(float64(g)))
			rest -= from - left + w
			left += period - w
			if left >= rest { // no more points in this block
				left -= rest
				break
			}
			from = left
		}
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
