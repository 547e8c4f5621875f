package collision

import "github.com/hushgrad/hushgrad/internal/sparse"

// BestSlots returns the number of slots t > s with the smallest MSE.
func BestSlots(dim, sparsity int, epsilon float64) (int, error) {
	return sparse.BestSlots(minSlots(sparsity), 1, func(slots int) (float64, error) {
		return MSE(dim, sparsity, slots, epsilon)
	})
}

// BestSlotsForFrequency returns the number of slots t > s with the smallest
// FrequencyMSE.
func BestSlotsForFrequency(dim, sparsity int, epsilon float64) (int, error) {
	return sparse.BestSlots(minSlots(sparsity), 1, func(slots int) (float64, error) {
		return FrequencyMSE(dim, sparsity, slots, epsilon)
	})
}
