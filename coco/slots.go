package coco

import (
	"github.com/hushgrad/hushgrad/internal/slothash"
	"github.com/hushgrad/hushgrad/sparse"
)

// BestSlots returns the number of slots t ≥ 2s that the hash family allows with
// the smallest MSE. p.Slots is ignored.
func BestSlots(p Point) (int, error) {
	return sparse.BestSlots(p, slothash.Paired, minSlots(p.Sparsity), MSE)
}

// BestSlotsForSupport returns the number of slots t ≥ 2s that the hash family
// allows with the smallest SupportMSE. p.Slots is ignored.
func BestSlotsForSupport(p Point) (int, error) {
	return sparse.BestSlots(p, slothash.Paired, minSlots(p.Sparsity), SupportMSE)
}
