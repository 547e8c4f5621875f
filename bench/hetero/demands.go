package hetero

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// MinEpsilon and MaxEpsilon bound a finite demand.
const (
	MinEpsilon = 1e-9
	MaxEpsilon = 1e9
)

// checkDemands refuses an empty list and demands out of range. O(n).
func checkDemands(eps []float64) error {
	if len(eps) == 0 {
		return fl.Invalid("eps", "no demands", "must have at least one element")
	}
	for i, e := range eps {
		if math.IsNaN(e) || e < MinEpsilon || e > MaxEpsilon && !math.IsInf(e, 1) {
			return fl.Invalid(fmt.Sprintf("eps[%d]", i), e, "must be in [%g, %g] or +Inf", MinEpsilon, MaxEpsilon)
		}
	}
	return nil
}

// checkData checks the number of values, and each by its rule.
func checkData[T any](values []T, clients int, ok func(T) bool, rule string) error {
	if len(values) != clients {
		return fl.Invalid("values", fmt.Sprintf("%d values", len(values)), "must have one per client, %d", clients)
	}
	for i, x := range values {
		if !ok(x) {
			return fl.Invalid(fmt.Sprintf("values[%d]", i), x, "%s", rule)
		}
	}
	return nil
}

// checkReals checks values of the unit interval. NaN is outside of it.
func checkReals(values []float64, clients int) error {
	return checkData(values, clients, func(x float64) bool { return x >= 0 && x <= 1 }, "must be in [0, 1]")
}

// checkCategories checks category numbers.
func checkCategories(values []int, clients, categories int) error {
	return checkData(values, clients, func(x int) bool { return x >= 0 && x < categories },
		fmt.Sprintf("must be in [0, %d]", categories-1))
}

// checkCategoryCount checks the number of categories, at least 1 where a mean is
// allowed and 2 for a histogram.
func checkCategoryCount(categories, least int) error {
	if categories < least || categories > fl.MaxDim {
		return fl.Invalid("categories", categories, "must be in [%d, %d]", least, fl.MaxDim)
	}
	return nil
}

// orFresh returns rng, or a fresh generator in the place of nil.
func orFresh(rng *rand.Rand) *rand.Rand {
	if rng == nil {
		return fl.NewRand()
	}
	return rng
}
