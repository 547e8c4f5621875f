package hetero_test

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/hetero"
)

func TestFactors(t *testing.T) {
	requireClose(t, "PAC mean", must(hetero.PACFactor(1, 0.05)), math.Log(20), 1e-15)
	requireClose(t, "PAC histogram", must(hetero.PACFactor(5, 0.05)), math.Log(100), 1e-15)
	requireClose(t, "MSE mean", must(hetero.MSEFactor(1)), 1, 0)
	requireClose(t, "MSE histogram", must(hetero.MSEFactor(20)), math.Log(20), 1e-15)
}

// Computed by hand: ‖w−1/4‖₁ = 1/2, ‖w‖₂² = 5/16 and ‖w/ε‖_∞ = 1/8 (the first user).
func TestRisksByHand(t *testing.T) {
	eps, w := []float64{1, 4, 8, inf}, hetero.Weights{0.125, 0.375, 0.375, 0.125}
	requireClose(t, "r_C", must(hetero.CorrelatedRisk(eps, w, 2)), math.Sqrt(0.25+4./64), 1e-15)
	requireClose(t, "r_U by the L1 distance", must(hetero.UncorrelatedRisk(eps, w, 2)), math.Sqrt(0.25+4./64), 1e-15)
	requireClose(t, "r_U by the L2 norm", must(hetero.UncorrelatedRisk(eps, w, 0.5)), math.Sqrt(5./32+0.25/64), 1e-15)
	requireClose(t, "public data", must(hetero.CorrelatedRisk([]float64{1, inf}, hetero.Weights{0, 1}, 9)), 1, 1e-15)
}
