package signsketch

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/sparse"
)

// A round's standard errors contain the aliasing of its labels. 20 000 clients hold the same
// three coordinates at ε = 20: the noise of a coordinate that nobody holds has the variance
// g²/n = 4/20 000, and aliasing adds a quarter of the squared mean, 3, over 0.75·2^15 for each
// of three entries: 3.05e-5, up to the error of the squared mean, which is below 5 %.
func TestStandardErrorsContainAliasing(t *testing.T) {
	const dim, n = 20, 20_000
	_, opened, err := fl.Complete(fl.Round{
		ID: "test", Mechanism: Name, Dim: dim, Scale: 1, Epsilon: 20, MinReports: 1,
		Params: fl.Params{sparse.ParamSparsity: fl.Int(3)}, PublicSeed: [32]byte{1, dim},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := opened.(fl.SparseMechanism)
	x := fl.Ternary{Dim: dim, Index: []uint32{0, 1, 2}, Sign: []int8{1, 1, -1}}
	agg, rng := m.NewAggregator(), rand.New(rand.NewChaCha8([32]byte{43}))
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
