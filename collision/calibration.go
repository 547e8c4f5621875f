package collision

import (
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// calibrate returns the exact hit probabilities for the weight high of an own
// slot and the total weight Ω. The two items of a coordinate can be hit together,
// when they fall into the same slot.
func calibrate(chances slothash.Chances, sparsity int, high, _, total float64) sparse.Calibration {
	hit := high / total
	miss := chances.FalseHit(sparsity, hit)
	return sparse.Calibration{
		In:  sparse.Joint{Own: hit, Opposite: miss, Both: hit * chances.Together()},
		Out: sparse.Joint{Own: miss, Opposite: miss, Both: chances.FalsePair(sparsity, hit)},
	}
}

// Point holds the public parameters that the error depends on.
type Point = sparse.Point

// MSE is the exact squared error of the mean estimated from one report, summed
// over the coordinates, in squared ternary units. Divide by the number of reports
// and multiply by τ² for the error of a round. O(1).
func MSE(p Point) (float64, error) {
	c, err := calibration(p)
	if err != nil {
		return 0, err
	}
	return c.MeanMSE(p.Dim, p.Sparsity), nil
}

// FrequencyMSE is the exact squared error of the frequencies estimated from one
// report, summed over the 2·dim items.
func FrequencyMSE(p Point) (float64, error) {
	c, err := calibration(p)
	if err != nil {
		return 0, err
	}
	own, opposite, out := c.FrequencyVariance()
	return float64(p.Sparsity)*(own+opposite) + 2*float64(p.Dim-p.Sparsity)*out, nil
}

// calibration returns the hit probabilities at a point.
func calibration(p Point) (sparse.Calibration, error) {
	return sparse.CalibrationAt(p, slothash.Separate, minSlots, calibrate)
}

// minSlots is the smallest allowed number of slots: t > s.
func minSlots(sparsity int) int { return sparsity + 1 }
