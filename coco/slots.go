package coco

import "github.com/hushgrad/hushgrad/internal/sparse"

// BestSlots returns the even number of slots t ≥ 2s with the smallest MSE.
func BestSlots(dim, sparsity int, epsilon float64) (int, error) {
	return sparse.BestSlots(minSlots(sparsity), 2, func(slots int) (float64, error) {
		return MSE(dim, sparsity, slots, epsilon)
	})
}

// BestSlotsForSupport returns the even number of slots t ≥ 2s with the smallest
// SupportMSE.
func BestSlotsForSupport(dim, sparsity int, epsilon float64) (int, error) {
	return sparse.BestSlots(minSlots(sparsity), 2, func(slots int) (float64, error) {
		return SupportMSE(dim, sparsity, slots, epsilon)
	})
}
