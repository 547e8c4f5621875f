package signsketch

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// Whole rounds against the exact error, where the sketch is at its best, and the
// bias of coordinates that half of the clients share. 4 t-tests with 39 degrees of
// freedom at 8 (1e-9 each) and 272 normal tests at 6.5 standard errors (8e-11 each):
// false-positive rate below 1e-7.
func TestRoundsHaveTheExactError(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{61}))
	for _, s := range []int{4, 64} {
		if s > 4 && testing.Short() {
			continue // 40 rounds with 2^19 labels
		}
		for _, eps := range []float64{0.5, 1} {
			t.Run(fmt.Sprintf("s=%d/eps=%g", s, eps), func(t *testing.T) {
				const dim = 7850
				mse, err := MSE(dim, s, eps)
				if err != nil {
					t.Fatal(err)
				}
				variance := (mse + float64(s)) / dim // of a coordinate outside, and nearly of one inside
				r := sparsetest.Round(t, Name, dim, s, eps)
				sparsetest.MeasureRounds(t, r, 40, 20, mse, variance, 8, 6.5, rng)
			})
		}
	}
}
