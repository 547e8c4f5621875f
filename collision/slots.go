package collision

import (
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/internal/sparse"
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

// HashLoss returns how much larger the MSE at the best number of slots of p.Hash
// is than with the ideal family at its best number: 0.01 is one percent. It can be
// negative. p.Slots is ignored.
func HashLoss(p Point) (float64, error) {
	return sparse.HashLoss(p, BestSlots, MSE)
}
