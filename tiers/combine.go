package tiers

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/fl"
)

// Group is a group of clients whose mean has been estimated on its own, for example
// all clients of a federated round that asked for the same ε.
type Group struct {
	Share    float64 // fraction of the clients, in [0, 1]; the tiers' shares sum to 1
	Variance float64 // of the tier's mean, per coordinate: ≥ 0, +Inf for a tier without a mean
}

// sumTolerance bounds the rounding error of a sum of shares.
const sumTolerance = 1e-9

// Combination is a weighted mean of the tiers' means.
type Combination struct {
	Weights  []float64 // of sum 1
	Variance float64   // Σ W²·variance, per coordinate
	Bias     float64   // bound on the bias per coordinate, radius·‖W − share‖₁
}

// Combine returns the weights W of least Variance + Bias², where the mean of
// every tier lies within radius of one common number. The radius is public, in
// [0, 1e150] and in the unit of the means, for example the clipping bound. With
// radius 0 the tiers are exchangeable and the weights are in inverse proportion to
// the variances; as it grows they tend to the shares. A variance below 1e−30 of
// the largest finite one counts as that. O(m·log m) for m tiers, and O(m) in each
// of the at most about 200 steps of a bisection.
func Combine(tiers []Group, radius float64) (*Combination, error) {
	if err := checkTiers(tiers, radius); err != nil {
		return nil, fmt.Errorf("tiers: %w", err)
	}
	largest := 0.
	for _, t := range tiers {
		if !math.IsInf(t.Variance, 1) {
			largest = max(largest, t.Variance)
		}
	}
	b := balance{precision: make([]float64, len(tiers)), share: make([]float64, len(tiers))}
	for i, t := range tiers {
		// In units of the largest variance: a precision is 1 or more, or 0 without a
		// mean. Equal precisions serve for tiers that are all exact.
		b.precision[i] = 1
		if largest > 0 || math.IsInf(t.Variance, 1) {
			b.precision[i] = 1 / max(t.Variance/largest, 1e-30)
		}
		b.share[i] = t.Share
	}
	w := b.weights(radius, largest)
	c := &Combination{Weights: w, Bias: radius * floats.Distance(w, b.share, 1)}
	for i, t := range tiers {
		if w[i] > 0 {
			c.Variance += w[i] * w[i] * t.Variance
		}
	}
	return c, nil
}

func checkTiers(tiers []Group, radius float64) error {
	if len(tiers) == 0 {
		return fl.Invalid("tiers", "no tiers", "must have at least one element")
	}
	sum, usable := 0., false
	for i, t := range tiers {
		if math.IsNaN(t.Share) || t.Share < 0 || t.Share > 1 {
			return fl.Invalid(fmt.Sprintf("tiers[%d].Share", i), t.Share, "must be in [0, 1]")
		}
		if math.IsNaN(t.Variance) || t.Variance < 0 || t.Variance > 1e300 && !math.IsInf(t.Variance, 1) {
			return fl.Invalid(fmt.Sprintf("tiers[%d].Variance", i), t.Variance, "must be in [0, 1e300] or +Inf")
		}
		sum += t.Share
		usable = usable || !math.IsInf(t.Variance, 1)
	}
	if math.Abs(sum-1) > sumTolerance {
		return fl.Invalid("tiers", sum, "the shares must sum to 1")
	}
	if !usable {
		return fl.Invalid("tiers", "+Inf everywhere", "must have a finite Variance at least once")
	}
	if math.IsNaN(radius) || radius < 0 || radius > 1e150 {
		return fl.Invalid("radius", radius, "must be in [0, 1e150]")
	}
	return nil
}

// balance solves min Σ W²/precision + penalty·‖W − share‖₁², with W = 0 where
// the precision is 0.
//
// At the optimum there are prices low ≤ high such that W = low·precision where W
// is above the share, high·precision where it is below, and between them the
// weight is the share. What is taken above equals what is added below, moved =
// ‖W − share‖₁/2, and high − low = 4·penalty·moved. As high falls, moved grows and
// with it low: the one root is found by bisection.
type balance struct{ precision, share []float64 }

func (b balance) weights(radius, largest float64) []float64 {
	penalty := math.Inf(1) // where all means are exact only the bias counts
	if largest > 0 {
		penalty = radius / largest * radius
	}
	low, high := b.prices(penalty)
	w := make([]float64, len(b.share))
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
