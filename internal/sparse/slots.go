package sparse

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// CheckPoint checks the arguments of an error formula.
func CheckPoint(dim, sparsity, slots int, minSlots func(s int) int, epsilon float64) error {
	if err := CheckShape(dim, sparsity); err != nil {
		return err
	}
	if !(epsilon > 0 && epsilon <= fl.MaxEpsilon) {
		return fl.Invalid("epsilon", epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	}
	if low := minSlots(sparsity); slots < low || int64(slots) > slothash.MaxSlots {
		return fl.Invalid(ParamSlots, slots, "must be in [%d, %d] for sparsity %d", low, int64(slothash.MaxSlots), sparsity)
	}
	return nil
}

// BestSlots returns the t among low, low+step, low+2·step, … up to
// slothash.MaxSlots that minimises a unimodal error, by ternary search. Of two
// with the same error it takes the smaller.
func BestSlots(low, step int, mse func(slots int) (float64, error)) (int, error) {
	var failed error
	at := func(k int) float64 {
		v, err := mse(low + k*step)
		if err != nil && failed == nil {
			failed = err
		}
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	lo, hi := 0, (slothash.MaxSlots-low)/step
	for hi-lo > 8 {
		third := (hi - lo) / 3
		if at(lo+third) <= at(hi-third) {
			hi -= third
		} else {
			lo += third
		}
	}
	best := lo
	for k := lo + 1; k <= hi; k++ {
		if at(k) < at(best) {
			best = k
		}
	}
	if failed != nil {
		return 0, fmt.Errorf("best number of slots: %w", failed)
	}
	return low + best*step, nil
}
