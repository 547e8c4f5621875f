package coco

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/sparse"
)

// calibrate returns the exact hit probabilities (paper, Lemma 3) for weights
// high and low of the two slots of a marked pair and total weight Ω.
//
// An item survives unless a later one of the client's items falls into its
// pair; with random order the number r of later items is uniform on 0 … s−1.
// An item that is overwritten leaves its pair marked by another one whose half
// is a fair coin.
func calibrate(family slothash.Family, sparsity int, high, low, total float64) sparse.Calibration {
	var overwritten float64
	for r := range sparsity {
		overwritten += family.Collide(r)
	}
	overwritten /= float64(sparsity)
	either := overwritten * (high + low) / (2 * total)
	out := family.FalseHit(sparsity)
	return sparse.Calibration{
		In: sparse.Joint{
			Own:      either + (1-overwritten)*high/total,
			Opposite: either + (1-overwritten)*low/total,
		},
		Out: sparse.Joint{Own: out, Opposite: out},
	}
}

// MSE is the exact squared error (paper, Lemma 3) of the mean estimated from
// one report, for the ideal hash family, summed over the dim coordinates, in
// squared ternary units. Divide by the number of reports and multiply by τ² for
// the error of a round. O(sparsity).
func MSE(dim, sparsity, slots int, epsilon float64) (float64, error) {
	c, err := idealCalibration(dim, sparsity, slots, epsilon)
	if err != nil {
		return 0, err
	}
	return c.MeanMSE(dim, sparsity), nil
}

// SupportMSE is MSE for the estimated support.
func SupportMSE(dim, sparsity, slots int, epsilon float64) (float64, error) {
	c, err := idealCalibration(dim, sparsity, slots, epsilon)
	if err != nil {
		return 0, err
	}
	return c.SupportMSE(dim, sparsity), nil
}

func idealCalibration(dim, sparsity, slots int, epsilon float64) (sparse.Calibration, error) {
	if err := sparse.CheckPoint(dim, sparsity, slots, minSlots, epsilon); err != nil {
		return sparse.Calibration{}, err
	}
	family, err := slothash.NewFamily(slothash.Ideal, slothash.Paired, slots, [32]byte{})
	if err != nil {
		return sparse.Calibration{}, err
	}
	e := math.Exp(epsilon)
	return calibrate(family, sparsity, e, 1, float64(sparsity)*e+float64(slots-sparsity)), nil
}

// minSlots is the smallest allowed number of slots. The paper asks for 2s+2;
// 2s is private as well (see the package comment).
func minSlots(sparsity int) int { return 2 * sparsity }
