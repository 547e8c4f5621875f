package coco

import (
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// calibrate returns the exact hit probabilities (paper, Lemma 3) for weights
// high and low of the two slots of a marked pair and total weight Ω.
//
// An item survives unless a later one of the client's items falls into its
// pair; with random order the number r of later items is uniform on 0 … s−1.
// An item that is overwritten leaves its pair marked by another one whose half
// is a fair coin.
func calibrate(chances slothash.Chances, sparsity int, high, low, total float64) sparse.Calibration {
	overwritten, pair := chances.Overwritten(sparsity), (high+low)/total
	either := overwritten * pair / 2
	out := chances.FalseHit(sparsity, pair)
	return sparse.Calibration{
		In: sparse.Joint{
			Own:      either + (1-overwritten)*high/total,
			Opposite: either + (1-overwritten)*low/total,
		},
		Out: sparse.Joint{Own: out, Opposite: out},
	}
}

// Point holds the public parameters that the error depends on.
type Point = sparse.Point

// MSE is the exact squared error of the mean estimated from one report, summed
// over the coordinates, in squared ternary units: Lemma 3 of the paper for the
// ideal hash family, and the same sum with its own probabilities for the linear
// one. Divide by the number of reports and multiply by τ² for the error of a round.
// O(sparsity).
func MSE(p Point) (float64, error) {
	c, err := calibration(p)
	if err != nil {
		return 0, err
	}
	return c.MeanMSE(p.Dim, p.Sparsity), nil
}

// SupportMSE is MSE for the estimated support.
func SupportMSE(p Point) (float64, error) {
	c, err := calibration(p)
	if err != nil {
		return 0, err
	}
	return c.SupportMSE(p.Dim, p.Sparsity), nil
}

// calibration returns the hit probabilities at a point.
func calibration(p Point) (sparse.Calibration, error) {
	return sparse.CalibrationAt(p, slothash.Paired, minSlots, calibrate)
}

// minSlots is the smallest allowed number of slots. The paper asks for 2s+2;
// 2s is private as well (see the package comment).
func minSlots(sparsity int) int { return 2 * sparsity }
