package collision

import (
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// BestSlots returns the number of slots t > s that the hash family allows
// with the smallest MSE. p.Slots is ignored.
func BestSlots(p Point) (int, error) {
	return sparse.BestSlots(p, slothash.Separate, minSlots(p.Sparsity), MSE)
}

// BestSlotsForFrequency returns the number of slots t > s that the hash family
// allows with the smallest FrequencyMSE. p.Slots is ignored.
func BestSlotsForFrequency(p Point) (int, error) {
	return sparse.BestSlots(p, slothash.Separate, minSlots(p.Sparsity), FrequencyMSE)
}
