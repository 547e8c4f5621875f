package sparse

import (
	"fmt"
	"math"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/slothash"
)

// Point holds the public parameters that the error of a sparse mechanism depends
// on.
type Point struct {
	Dim      int     // coordinates
	Sparsity int     // entries of a client's vector
	Slots    int     // output size; ignored where the best one is asked for
	Epsilon  float64 // local privacy budget
	Hash     string  // hash family, "gf2" or "ideal"
}

// Chances checks the point and returns the probabilities of its hash family.
func (p Point) Chances(layout slothash.Layout, minSlots func(s int) int) (slothash.Chances, error) {
	if err := CheckShape(p.Dim, p.Sparsity); err != nil {
		return nil, err
	}
	if !(p.Epsilon > 0 && p.Epsilon <= fl.MaxEpsilon) {
		return nil, fl.Invalid("epsilon", p.Epsilon, "must be in (0, %d]", fl.MaxEpsilon)
	}
	if low := minSlots(p.Sparsity); p.Slots < low {
		return nil, fl.Invalid(ParamSlots, p.Slots, "must be at least %d for sparsity %d", low, p.Sparsity)
	}
	return slothash.NewChances(p.Hash, layout, layout.Keys(p.Dim, p.Sparsity), p.Slots)
}

// Weights returns e^ε and the total weight Ω = s·e^ε + t − s of the slots.
func (p Point) Weights() (high, total float64) {
	high = math.Exp(p.Epsilon)
	return high, float64(p.Sparsity)*high + float64(p.Slots-p.Sparsity)
}

// CalibrationAt returns the hit probabilities of a mechanism at a point.
func CalibrationAt(p Point, layout slothash.Layout, minSlots func(s int) int, calibrate Calibrate) (Calibration, error) {
	chances, err := p.Chances(layout, minSlots)
	if err != nil {
		return Calibration{}, err
	}
	high, total := p.Weights()
	return calibrate(chances, p.Sparsity, high, 1, total), nil
}

// BestSlots returns the number of slots, among those that the family allows from
// low on, with the smallest error. The error must be unimodal in the number of
// slots. Of two with the same error it takes the smaller. O(log) evaluations.
func BestSlots(p Point, layout slothash.Layout, low int, mse func(Point) (float64, error)) (int, error) {
	if err := CheckShape(p.Dim, p.Sparsity); err != nil {
		return 0, err
	}
	first, step, high := slothash.SlotChoices(p.Hash, layout, layout.Keys(p.Dim, p.Sparsity), low)
	if first > high {
		return 0, fl.Invalid(ParamSparsity, p.Sparsity, "must allow at least %d slots, hash %q has at most %d here", low, p.Hash, high)
	}
	choice := func(k int) int { return first + k*step }
	last := 0
	if step > 0 {
		last = (high - first) / step
	} else {
		choice = func(k int) int { return first << k }
		for choice(last+1) <= high {
			last++
		}
	}
	var failed error
	at := func(k int) float64 {
		p.Slots = choice(k)
		v, err := mse(p)
		if err != nil && failed == nil {
			failed = err
		}
		if math.IsNaN(v) {
			return math.Inf(1) // nothing can be estimated there
		}
		return v
	}
	lo, hi := 0, last
	for hi-lo > 8 { // ternary search
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
	return choice(best), nil
}

// LeastMSE returns the smallest error of a family.
func LeastMSE(p Point, best func(Point) (int, error), mse func(Point) (float64, error)) (float64, error) {
	var err error
	if p.Slots, err = best(p); err != nil {
		return 0, err
	}
	return mse(p)
}
