package signsketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
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
			sparsetest.CheckPrivacy(t, c, eps, w, newSampler(w))
		}
	}
}

// A round's standard errors contain the aliasing of its labels. 20 000 clients hold the same
// three coordinates at ε = 20: the noise of a coordinate that nobody holds has the variance
// g²/n = 4/20 000, and aliasing adds a quarter of the squared mean, 3, over 0.75·2^15 for each
// of three entries: 3.05e-5, up to the error of the squared mean, which is below 5 %.
func TestStandardErrorsContainAliasing(t *testing.T) {
	const dim, n = 20, 20_000
	m := sparsetest.Open(t, sparsetest.Round(t, Name, dim, 3, 20))
	x, agg, rng := sparsetest.Input(dim, 3, 0), m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{43}))
	for range n {
		report, err := m.EncodeTernary(nil, x, rng)
		if err != nil {
			t.Fatal(err)
		}
		if err := agg.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := agg.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	most := slices.Max(e.Mean().StdErr) // of a coordinate that looks empty
	bits := labelBits(sparse.Point{Dim: dim, Sparsity: 3})
	added := 3 * 0.25 / 0.75 / math.Exp2(float64(bits))
	if got := most*most - 4./n; bits != 15 || math.Abs(got/added-1) > 0.1 {
		t.Errorf("2^%d labels add %g to the squared standard errors, want %g", bits, got, added)
	}
}
