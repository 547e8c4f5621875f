package rotation

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/walsh"
)

// Rotation is one choice of signs for vectors of one length. It does not change after
// New and may be used from several goroutines at once.
type Rotation struct {
	dim, padded int
	negative    []uint64 // bit i%64 of word i/64: coordinate i changes sign
}

// New draws the signs for vectors of dim coordinates from the public key, by the rule in
// the package comment. dim must be in [1, fl.MaxDim]; the error otherwise is a
// *fl.ParamError.
//
// Cost: O(dim) time, dim/8 bytes.
func New(dim int, key [32]byte) (*Rotation, error) {
	if dim < 1 || dim > fl.MaxDim {
		return nil, fmt.Errorf("rotation: %w", fl.Invalid("dim", dim, "must be in [1, %d]", fl.MaxDim))
	}
	negative := make([]uint64, (dim+63)/64)
	stream := rand.NewChaCha8(key)
	for i := range negative {
		negative[i] = stream.Uint64()
	}
	return &Rotation{dim: dim, padded: 1 << bits.Len(uint(dim-1)), negative: negative}, nil
}

// Dim returns the number of coordinates of a vector.
func (r *Rotation) Dim() int { return r.dim }

// PaddedDim returns the number of coordinates of a rotated vector: Dim rounded up to a
// power of two.
func (r *Rotation) PaddedDim() int { return r.padded }

// Forward writes H·P·pad(x) to dst. It is √PaddedDim times as long as x. x has Dim
// elements and dst PaddedDim. x may be the start of dst; other overlaps give a wrong
// result. All elements must be finite and Σ|x| at most half the largest float64, so that
// nothing overflows. The error otherwise is a *fl.ParamError, and dst is unchanged.
//
// Each element of dst is off by at most about log2(PaddedDim)·2^-53·Σ|x|.
//
// Cost: O(d' log d') for d' = PaddedDim. It allocates nothing for d' < 2^16; from there
// the transform may run on several goroutines.
func (r *Rotation) Forward(dst, x []float64) error {
	if err := cmp.Or(r.checkShapes(len(dst), r.padded, "x", len(x), r.dim), checkFinite("x", x)); err != nil {
		return err
	}
	r.flip(dst, x)
	clear(dst[r.dim:])
	return walsh.Transform(dst)
}

// ForwardInt is Forward for integers, and exact. Σ|x| must be below 2^63, since it is
// what an element of dst can reach.
//
// Cost: as for Forward.
func (r *Rotation) ForwardInt(dst, x []int64) error {
	if err := r.checkShapes(len(dst), r.padded, "x", len(x), r.dim); err != nil {
		return err
	}
	var sum uint64 // stays below 2^63 + 2^63: it is checked after each addition
	for i, v := range x {
		size := uint64(v)
		if v < 0 {
			size = -size // 2^63 for the smallest integer, which has no int64 magnitude
		}
		if sum += size; sum > math.MaxInt64 {
			return fmt.Errorf("rotation: %w", fl.Invalid("x", fmt.Sprintf("Σ|x[0..%d]| = %d", i, sum),
				"must have Σ|x| at most %d", int64(math.MaxInt64)))
		}
	}
	for i, v := range x {
		mask := -int64(r.negative[i/64] >> (i % 64) & 1)
		dst[i] = (v ^ mask) - mask // −v for mask −1
	}
	clear(dst[r.dim:])
	return walsh.Transform(dst)
}

// Inverse writes the first Dim entries of P·H·y/PaddedDim to dst. y has PaddedDim
// elements and is used as scratch: its contents are lost. dst has Dim elements and may be
// the start of y. All elements of y must be finite and Σ|y| at most half the largest
// float64. The error otherwise is a *fl.ParamError, and dst and y are unchanged.
//
// Each element of dst is off by at most about log2(PaddedDim)·2^-53·Σ|y|/PaddedDim; the
// division is by a power of two. The result is exact for Forward or ForwardInt of
// integers as long as Σ|y| <= 2^53.
//
// Cost: as for Forward.
func (r *Rotation) Inverse(dst, y []float64) error {
	if err := cmp.Or(r.checkShapes(len(dst), r.dim, "y", len(y), r.padded), checkFinite("y", y)); err != nil {
		return err
	}
	if err := walsh.Transform(y); err != nil {
		return err
	}
	r.flip(dst, y[:r.dim])
	scale := 1 / float64(r.padded)
	for i := range dst {
		dst[i] *= scale
	}
	return nil
}

// flip writes P·x to dst, for x of dim elements.
func (r *Rotation) flip(dst, x []float64) {
	for i, v := range x {
		sign := r.negative[i/64] >> (i % 64) << 63
		dst[i] = math.Float64frombits(math.Float64bits(v) ^ sign)
	}
}

// checkShapes compares the lengths of dst and of the input called name with what they must be.
func (r *Rotation) checkShapes(gotDst, wantDst int, name string, got, want int) error {
	if gotDst != wantDst {
		return fmt.Errorf("rotation: %w", fl.Invalid("dst", fmt.Sprintf("%d elements", gotDst), "must have %d", wantDst))
	}
	if got != want {
		return fmt.Errorf("rotation: %w", fl.Invalid(name, fmt.Sprintf("%d elements", got), "must have %d", want))
	}
	return nil
}

// checkFinite refuses vectors that have, or whose transform could have, elements that
// are not finite. One sum finds all of these.
func checkFinite(name string, x []float64) error {
	var sum float64
	for _, v := range x {
		sum += math.Abs(v)
	}
	if sum <= math.MaxFloat64/2 {
		return nil
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("rotation: %w", fl.Invalid(fmt.Sprintf("%s[%d]", name, i), v, "must be finite"))
		}
	}
	return fmt.Errorf("rotation: %w", fl.Invalid(name, fmt.Sprintf("Σ|%s| = %v", name, sum), "must have Σ|%s| at most %g", name, math.MaxFloat64/2))
}
