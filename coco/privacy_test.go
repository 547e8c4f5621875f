package coco

import (
	"testing"

	"github.com/hushgrad/hushgrad/fl/exact"
	"github.com/hushgrad/hushgrad/sparse"
	"github.com/hushgrad/hushgrad/sparse/slothash"
	"github.com/hushgrad/hushgrad/sparse/sparsetest"
)

// ε-LDP by exhaustion: with the real integer weights of several budgets, no
// two inputs give any slot with probabilities more than a factor e^ε (a rational
// lower bound of it) apart, under any hash function of the domain. The domains
// include items that share a pair, with equal and with opposite slots, dummies,
// and p = s = t/2, where no slot is left over.
func TestLocalPrivacyByEnumeration(t *testing.T) {
	cases := []sparsetest.Case{
		{Dim: 2, Sparsity: 1, Slots: 2},
		{Dim: 2, Sparsity: 1, Slots: 6},
		{Dim: 2, Sparsity: 2, Slots: 4},
		{Dim: 3, Sparsity: 2, Slots: 4},
		{Dim: 2, Sparsity: 2, Slots: 6},
	}
	if !testing.Short() {
		cases = append(cases, sparsetest.Case{Dim: 2, Sparsity: 3, Slots: 6})
	}
	for _, c := range cases {
		c.Keys = c.Dim + c.Sparsity
		for _, eps := range []float64{0.1, 1, 5} {
			if c.Dim+c.Sparsity >= 5 && eps != 1 {
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

// The hit probabilities of Lemma 3, by enumeration. With t = 2s there is no slot outside the marked pairs when
// no two items share one.
func TestCalibrationByEnumeration(t *testing.T) {
	for _, p := range []sparse.Point{
		{Dim: 2, Sparsity: 1, Slots: 2}, {Dim: 2, Sparsity: 1, Slots: 6}, {Dim: 3, Sparsity: 2, Slots: 4}, {Dim: 3, Sparsity: 2, Slots: 8}, {Dim: 4, Sparsity: 3, Slots: 6},
	} {
		for _, p.Epsilon = range []float64{0.1, 1, 5} {
			w, err := exact.NewWeights(p.Epsilon, p.Sparsity, p.Slots)
			if err != nil {
				t.Fatal(err)
			}
			sparsetest.CheckCalibration(t, Scheme, slothash.Paired, p, newSampler(w, p.Sparsity, p.Slots))
		}
	}
}
