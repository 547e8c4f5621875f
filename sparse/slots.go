package sparse

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/hushgrad/hushgrad/fl"
)

// BestSlots returns the number of slots that the hash family allows with the smallest
// MSE. p.Slots is ignored. O(log fl.MaxDim) evaluations of MSE.
func (s *Scheme) BestSlots(p Point) (int, error) { return s.best(p, s.MSE) }

// BestSlotsForFrequency is BestSlots for FrequencyMSE.
func (s *Scheme) BestSlotsForFrequency(p Point) (int, error) { return s.best(p, s.FrequencyMSE) }

// BestSlotsForItems is BestSlots for ItemMSE.
func (s *Scheme) BestSlotsForItems(p Point) (int, error) { return s.best(p, s.ItemMSE) }

// BestSlotsAt is BestSlots where ε depends on the number of slots, as under a budget for shuffled
// reports: epsilon returns the ε of a number of slots, in (0, fl.MaxEpsilon]. p.Slots and
// p.Epsilon are ignored. The MSE must be unimodal all the same.
func (s *Scheme) BestSlotsAt(p Point, epsilon func(slots int) float64) (int, error) {
	p.Epsilon = fl.MaxEpsilon // of no number of slots: mse replaces it
	return s.best(p, func(p Point) (float64, error) {
		p.Epsilon = epsilon(p.Slots)
		return s.MSE(p)
	})
}

func (s *Scheme) best(p Point, mse func(Point) (float64, error)) (int, error) {
	p, err := s.at(p)
	if err != nil {
		return 0, err
	}
	if s.definition.Slots > 0 {
		return s.definition.Slots, nil
	}
	return search(p, s.definition.Layout, s.definition.MinSlots(p.Sparsity), mse)
}

// LeastMSE is the MSE at the best number of slots.
func (s *Scheme) LeastMSE(p Point) (float64, error) {
	var err error
	if p.Slots, err = s.BestSlots(p); err != nil {
		return 0, err
	}
	return s.MSE(p)
}

// search returns the number of slots, among those that the family allows from
// low on, with the smallest error. The error must be unimodal in the number of
// slots. Of two with the same error it takes the smaller. O(log) evaluations.
func search(p Point, layout Layout, low int, mse func(Point) (float64, error)) (int, error) {
	if err := CheckShape(p.Dim, p.Sparsity); err != nil {
		return 0, err
	}
	first, step, high := SlotChoices(p.Hash, layout, layout.Keys(p.Dim, p.Sparsity), low)
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

// acceptableLoss is the loss of accuracy above which a round gets advice.
const acceptableLoss = 0.05

// Advise compares the number of slots of a point with the best one of the ideal family
// and says what would be better, when that is worth saying.
func (s *Scheme) Advise(p Point) []string {
	if s.definition.Slots > 0 {
		return nil
	}
	here, err := s.MSE(p)
	if err != nil {
		return nil
	}
	ideal := p
	ideal.Hash = HashIdeal
	if ideal.Slots, err = s.BestSlots(ideal); err != nil {
		return nil
	}
	least, err := s.MSE(ideal)
	if err != nil || here <= least*(1+acceptableLoss) {
		return nil
	}
	advice := fmt.Sprintf("%d slots give %.0f %% more squared error at ε = %.4g than the best number, %d with hash %q",
		p.Slots, 100*(here/least-1), p.Epsilon, ideal.Slots, HashIdeal)
	if p.Hash == HashGF2 {
		power := 1 << bits.Len(uint(p.Sparsity))
		advice += fmt.Sprintf("; hash %q has powers of two only, which suit a sparsity of %d or %d better than %d",
			HashGF2, max(1, power/2-1), power-1, p.Sparsity)
	}
	return []string{advice}
}
