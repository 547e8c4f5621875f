package collision

import (
	"math"

	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/sparse"
)

// calibrate returns the exact hit probabilities for the weight high of an own
// slot and the total weight Ω. The two items of a coordinate are hit together
// only when they fall into the same slot, with probability 1/t.
func calibrate(family slothash.Family, sparsity int, high, total float64) sparse.Calibration {
	hit, miss := high/total, family.FalseHit(sparsity)
	same := family.Collide(1)
	return sparse.Calibration{
		In:  sparse.Joint{Own: hit, Opposite: miss, Both: hit * same},
		Out: sparse.Joint{Own: miss, Opposite: miss, Both: miss * same},
	}
}

// MSE is the exact squared error of the mean estimated from one report, for the
// ideal hash family, summed over the dim coordinates, in squared ternary units.
// Divide by the number of reports and multiply by τ² for the error of a round.
// O(1).
func MSE(dim, sparsity, slots int, epsilon float64) (float64, error) {
	c, err := idealCalibration(dim, sparsity, slots, epsilon)
	if err != nil {
		return 0, err
	}
	return c.MeanMSE(dim, sparsity), nil
}

// FrequencyMSE is the exact squared error of the frequencies estimated from one
// report, summed over the 2·dim items.
func FrequencyMSE(dim, sparsity, slots int, epsilon float64) (float64, error) {
	c, err := idealCalibration(dim, sparsity, slots, epsilon)
	if err != nil {
		return 0, err
	}
	own, opposite, out := c.FrequencyVariance()
	return float64(sparsity)*(own+opposite) + 2*float64(dim-sparsity)*out, nil
}

func idealCalibration(dim, sparsity, slots int, epsilon float64) (sparse.Calibration, error) {
	if err := sparse.CheckPoint(dim, sparsity, slots, minSlots, epsilon); err != nil {
		return sparse.Calibration{}, err
	}
	family, err := slothash.NewFamily(slothash.Ideal, slothash.Separate, slots, [32]byte{})
	if err != nil {
		return sparse.Calibration{}, err
	}
	e := math.Exp(epsilon)
	return calibrate(family, sparsity, e, float64(sparsity)*e+float64(slots-sparsity)), nil
}

// minSlots is the smallest allowed number of slots: t > s.
func minSlots(sparsity int) int { return sparsity + 1 }
