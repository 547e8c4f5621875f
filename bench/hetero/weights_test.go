package hetero_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/hetero"
)

func TestSimpleWeights(t *testing.T) {
	ln2, ln4 := math.Ln2, 2*math.Ln2
	for _, c := range []struct {
		name string
		of   func([]float64) (hetero.Weights, error)
		eps  []float64
		want hetero.Weights
	}{
		{"Saturating", hetero.Saturating, []float64{ln2, ln4, inf}, hetero.Weights{0.5 / 2.25, 0.75 / 2.25, 1 / 2.25}},
		{"Saturating", hetero.Saturating, []float64{1e-6, 3e-6}, hetero.Weights{0.25 + 1.875e-7, 0.75 - 1.875e-7}},
		{"Uniform", hetero.Uniform, []float64{1e-6, 1, 5, inf}, hetero.Weights{0.25, 0.25, 0.25, 0.25}},
		{"Proportional", hetero.Proportional, []float64{1, 2, 5}, hetero.Weights{0.125, 0.25, 0.625}},
		{"Proportional", hetero.Proportional, []float64{inf, 2, inf}, hetero.Weights{0.5, 0, 0.5}},
		{"Proportional", hetero.Proportional, []float64{inf}, hetero.Weights{1}},
	} {
		w := must(c.of(c.eps))
		for i := range w {
			// The second row is the first-order expansion: 1e-11 is its second order.
			requireClose(t, c.name, w[i], c.want[i], 1e-11)
		}
	}
}

func TestFactors(t *testing.T) {
	requireClose(t, "PAC mean", must(hetero.PACFactor(1, 0.05)), math.Log(20), 1e-15)
	requireClose(t, "PAC histogram", must(hetero.PACFactor(5, 0.05)), math.Log(100), 1e-15)
	requireClose(t, "MSE mean", must(hetero.MSEFactor(1)), 1, 0)
	requireClose(t, "MSE histogram", must(hetero.MSEFactor(20)), math.Log(20), 1e-15)
}

// Computed by hand: ‖w−1/4‖₁ = 1/2, ‖w‖₂² = 5/16 and ‖w/ε‖_∞ = 1/8 (the first client).
func TestRisksByHand(t *testing.T) {
	eps, w := []float64{1, 4, 8, inf}, hetero.Weights{0.125, 0.375, 0.375, 0.125}
	requireClose(t, "r_C", must(hetero.CorrelatedRisk(eps, w, 2)), math.Sqrt(0.25+4./64), 1e-15)
	requireClose(t, "r_U by the L1 distance", must(hetero.UncorrelatedRisk(eps, w, 2)), math.Sqrt(0.25+4./64), 1e-15)
	requireClose(t, "r_U by the L2 norm", must(hetero.UncorrelatedRisk(eps, w, 0.5)), math.Sqrt(5./32+0.25/64), 1e-15)
	requireClose(t, "public data", must(hetero.CorrelatedRisk([]float64{1, inf}, hetero.Weights{0, 1}, 9)), 1, 1e-15)
}
