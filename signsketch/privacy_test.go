package signsketch

import (
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

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
