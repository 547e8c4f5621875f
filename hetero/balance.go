package hetero

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// balance solves min Σ W²/precision + penalty·‖W − share‖₁², with W = 0 where
// the precision is 0.
//
// At the optimum there are prices low ≤ high such that W = low·precision where W
// is above the share, high·precision where it is below, and between them the
// weight is the share. What is taken above equals what is added below, moved =
// ‖W − share‖₁/2, and high − low = 4·penalty·moved. As high falls, moved grows and
// with it low: the one root is found by bisection.
type balance struct{ precision, share []float64 }

func (b balance) weights(radius, largest float64) Weights {
	penalty := math.Inf(1) // where all means are exact only the bias counts
	if largest > 0 {
		penalty = radius / largest * radius
	}
	low, high := b.prices(penalty)
	w := make(Weights, len(b.share))
	for i, p := range b.precision {
		if p > 0 {
			w[i] = min(max(b.share[i], low*p), high*p)
		}
	}
	floats.Scale(1/floats.Sum(w), w)
	return w
}

// prices returns low and high; high is +Inf when no tier with a mean loses
// weight. The penalty may be +Inf, which makes a NaN of the comparison where
// nothing needs moving.
func (b balance) prices(penalty float64) (low, high float64) {
	for i, p := range b.precision {
		if p > 0 {
			high = max(high, b.share[i]/p)
		}
	}
	order := b.byPrice()
	moved := b.taken(high)
	low = b.price(order, moved)
	if tooHigh := high-low > 4*penalty*moved; !tooHigh {
		return low, math.Inf(1)
	}
	floor, ceiling := 0., high
	for {
		high = floor + (ceiling-floor)/2
		moved = b.taken(high)
		low = b.price(order, moved)
		switch {
		case high <= floor || high >= ceiling:
			return low, high
		case high-low > 4*penalty*moved:
			ceiling = high
		default:
			floor = high
		}
	}
}

// taken returns how much weight the tiers lose at the price high.
func (b balance) taken(high float64) float64 {
	sum := 0.
	for i, p := range b.precision {
		sum += max(0, b.share[i]-high*p)
	}
	return sum
}

// byPrice returns the tiers that can gain weight, the cheapest first.
func (b balance) byPrice() []int {
	var order []int
	for i, p := range b.precision {
		if p > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Compare(b.share[i]/b.precision[i], b.share[j]/b.precision[j])
	})
	return order
}

// price returns the low at which tiers gain the given weight.
func (b balance) price(order []int, weight float64) float64 {
	low, precision := 0., 0.
	for _, i := range order {
		if own := b.share[i] / b.precision[i]; precision > 0 && low <= own {
			break
		}
		weight += b.share[i]
		precision += b.precision[i]
		low = weight / precision
	}
	return low
}
