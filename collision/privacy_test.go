package collision

import (
	"math/big"
	"testing"

	"github.com/hushgrad/hushgrad/internal/exact"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// ε-LDP by exhaustion, as in package coco: every input, every hash function of
// the domain, every choice of the sampler, with the real integer weights.
// Items that share a slot and dummies are among the cases.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	cases := []sparsetest.Case{
		{Dim: 1, Sparsity: 1, Slots: 2},
		{Dim: 2, Sparsity: 1, Slots: 3},
		{Dim: 2, Sparsity: 2, Slots: 3},
	}
	if !testing.Short() {
		cases = append(cases, sparsetest.Case{Dim: 2, Sparsity: 2, Slots: 4}, sparsetest.Case{Dim: 1, Sparsity: 1, Slots: 7})
	}
	for _, c := range cases {
		// Dummies carry +, so the key of the last dummy's − is never hashed.
		c.Keys = 2*(c.Dim+c.Sparsity) - 1
		for _, eps := range []float64{0.1, 1, 5} {
			if c.Slots == 4 && eps != 1 {
				continue
			}
			w, err := exact.NewWeights(eps, c.Sparsity, c.Slots)
			if err != nil {
				t.Fatal(err)
			}
			r := sparsetest.Prove(t, c, newSampler(w, c.Sparsity, c.Slots))
			if r.Worst.Cmp(sparsetest.LowerExp(eps)) > 0 {
				t.Errorf("%+v ε=%g: worst ratio %s exceeds e^ε", c, eps, r.Worst.FloatString(12))
			}
			if want := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.High), new(big.Int).SetUint64(w.Low)); r.Worst.Cmp(want) != 0 {
				t.Errorf("%+v ε=%g: worst ratio %s, want High/Low = %s", c, eps, r.Worst.FloatString(12), want.FloatString(12))
			}
			t.Logf("%+v ε=%g: %d inputs, %d hash functions, worst ratio %s", c, eps, r.Inputs, r.Functions, r.Worst.FloatString(9))
		}
	}
}
