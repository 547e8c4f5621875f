package collision

import (
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/sparse/slothash"
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
			sparsetest.CheckPrivacy(t, c, eps, w, newSampler(w, c.Sparsity, c.Slots))
		}
	}
}

// The hit probabilities by enumeration: of an own item, of the one with the opposite sign, of both at once, and of
// the items of another coordinate.
func TestCalibrationByEnumeration(t *testing.T) {
	for _, p := range []sparse.Point{
		{Dim: 2, Sparsity: 1, Slots: 2}, {Dim: 2, Sparsity: 1, Slots: 5}, {Dim: 3, Sparsity: 2, Slots: 3}, {Dim: 3, Sparsity: 2, Slots: 4},
	} {
		for _, p.Epsilon = range []float64{0.1, 1, 5} {
			w, err := exact.NewWeights(p.Epsilon, p.Sparsity, p.Slots)
			if err != nil {
				t.Fatal(err)
			}
			sparsetest.CheckCalibration(t, Scheme, slothash.Separate, p, newSampler(w, p.Sparsity, p.Slots))
		}
	}
}
