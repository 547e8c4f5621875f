package fltest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
)

// ofTier encodes a gradient under one guarantee of the menu.
func ofTier(m fl.TieredMechanism, tier int, grad []float64) encoding {
	return of(grad, func(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
		return m.EncodeTier(dst, tier, grad, rng)
	})
}

func (s *suite) menuBeginsStrict(m fl.TieredMechanism) error {
	menu := m.Tiers()
	if len(menu) == 0 || menu[0] != m.Guarantee() {
		return fmt.Errorf("the menu is %v, want it to begin with the guarantee %v", menu, m.Guarantee())
	}
	for i, g := range menu {
		if err := s.promise(g); err != nil {
			return fmt.Errorf("tier %d: %w", i, err)
		}
	}
	if !slices.IsSortedFunc(menu, func(a, b fl.Guarantee) int { return cmp.Compare(a.Epsilon, b.Epsilon) }) {
		return fmt.Errorf("the menu is %v, want the strictest guarantee first", menu)
	}
	return nil
}

func (s *suite) tiersAreEncoded(m fl.TieredMechanism) error {
	for tier := range m.Tiers() {
		err := each(s.goodGradients(), func(grad []float64) error { return s.encodes(ofTier(m, tier, grad)) })
		if err == nil {
			err = each(s.badGradients(), func(grad []float64) error { return s.refuses(ofTier(m, tier, grad)) })
		}
		if err != nil {
			return fmt.Errorf("EncodeTier of tier %d: %w", tier, err)
		}
	}
	return each([]named[int]{{"tier -1", -1}, {"a tier beyond the menu", len(m.Tiers())}}, func(tier int) error {
		return s.refuses(ofTier(m, tier, s.gradient(0)))
	})
}

// tiersAreEstimated: an estimate says how many reports each tier had, and the weights of
// the tiers sum to 1.
func (s *suite) tiersAreEstimated(m fl.TieredMechanism) error {
	menu, rng := m.Tiers(), s.rand(5)
	want := make([]int64, len(menu))
	agg := m.NewAggregator()
	for i := range s.reports {
		tier := i % len(menu)
		report, err := m.EncodeTier(nil, tier, s.gradient(i), rng)
		if err != nil {
			return fmt.Errorf("EncodeTier of tier %d: %w", tier, err)
		}
		if err := agg.Add(report); err != nil {
			return fmt.Errorf("Add of a report of tier %d: %w", tier, err)
		}
		want[tier]++
	}
	e, err := agg.Estimate()
	if err != nil {
		return fmt.Errorf("Estimate: %w", err)
	}
	if len(e.Tiers) != len(menu) {
		return fmt.Errorf("an estimate with %d tiers, the menu has %d", len(e.Tiers), len(menu))
	}
	weights := 0.0
	for i, tier := range e.Tiers {
		if tier.Guarantee != menu[i] || tier.Reports != want[i] {
			return fmt.Errorf("tier %d of an estimate has %d reports under %v, want %d under %v", i, tier.Reports, tier.Guarantee, want[i], menu[i])
		}
		weights += tier.Weight
	}
	if !(math.Abs(weights-1) <= roundoff) {
		return fmt.Errorf("the weights of the tiers sum to %g, want 1", weights)
	}
	if !slices.Contains(menu, e.Guarantee) {
		return errors.New("the guarantee of an estimate is none of the menu")
	}
	return nil
}
