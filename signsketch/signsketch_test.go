package signsketch

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/sparse"
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
				mse, err := Scheme.MSE(sparse.Point{Dim: dim, Sparsity: s, Epsilon: eps})
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

// ε-LDP by exhaustion: every input, every sign function, every choice of the
// sampler, with the real integer weights; ties of the majority included.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	for _, c := range []sparsetest.Case{
		{Dim: 2, Sparsity: 1, Slots: 2}, {Dim: 3, Sparsity: 2, Slots: 2}, {Dim: 3, Sparsity: 3, Slots: 2}, {Dim: 4, Sparsity: 4, Slots: 2},
	} {
		c.Keys = c.Dim + c.Sparsity
		for _, eps := range []float64{0.1, 1, 5} {
			w, err := exact.NewWeights(eps, 1, slots)
			if err != nil {
				t.Fatal(err)
			}
			r := sparsetest.Prove(t, c, newSampler(w))
			want := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.High), new(big.Int).SetUint64(w.Low))
			if r.Worst.Cmp(sparsetest.LowerExp(eps)) > 0 || r.Worst.Cmp(want) != 0 {
				t.Errorf("%+v ε=%g: worst ratio %s, want High/Low = %s below e^ε", c, eps, r.Worst.FloatString(12), want.FloatString(12))
			}
		}
	}
}
