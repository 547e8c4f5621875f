package ternarize

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Blocks are passed over and left early. What is drawn must be what a walk over all coordinates
// draws, with no point, one and several in a block, and at the borders of the cumulated weights.
func TestBlocksDoNotChangeWhatIsDrawn(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{8}))
	for _, dim := range []int{blockSize, 3*blockSize + 5, 20 * blockSize} {
		for _, sparsity := range []int{1, 5, dim / 2, dim} {
			s, err := NewSampler(dim, sparsity, 0.25)
			if err != nil {
				t.Fatal(err)
			}
			grad := randomGradient(dim)
			period, err := weigh(s, grad)
			if err != nil {
				t.Fatal(err)
			}
			weights := weightsOf(s, grad)
			starts := []uint64{0, period - 1}
			sum := uint64(0)
			for _, w := range weights {
				sum += w
				starts = append(starts, (sum-1)%period, sum%period, rng.Uint64N(period))
			}
			for _, start := range starts {
				var want []uint32
				passed, point := uint64(0), start
				for j, w := range weights {
					if passed += w; point < passed { // w is at most the period: one point
						want = append(want, uint32(j))
						point += period
					}
				}
				got := drawAt(s, grad, start, period).Index
				for dummy := uint32(dim); len(want) < sparsity; dummy++ {
					want = append(want, dummy)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("dim %d, sparsity %d, start %d: %v, want %v", dim, sparsity, start, got, want)
				}
			}
		}
	}
}
