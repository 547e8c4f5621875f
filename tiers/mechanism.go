package tiers

import (
	"fmt"
	"math/rand/v2"

	"github.com/hushgrad/hushgrad/fl"
)

// mechanism implements fl.TieredMechanism.
type mechanism struct {
	round  fl.Round
	radius float64 // in units of the gradient
	digest [32]byte
	tiers  []fl.Mechanism // the smallest ε first
}

var _ fl.TieredMechanism = (*mechanism)(nil)

// Encode implements fl.Mechanism, under the strictest guarantee.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return m.EncodeTier(dst, 0, grad, rng)
}

// EncodeTier implements fl.TieredMechanism.
func (m *mechanism) EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if tier < 0 || tier >= len(m.tiers) {
		return dst, fmt.Errorf("tiers: encode: %w", fl.Invalid("tier", tier, "must be in [0, %d)", len(m.tiers)))
	}
	start := len(dst)
	out, err := m.tiers[tier].Encode(append(dst, byte(tier)), grad, rng)
	if err != nil {
		return dst[:start], err
	}
	return out, nil
}

// Tiers implements fl.TieredMechanism.
func (m *mechanism) Tiers() []fl.Guarantee {
	var menu []fl.Guarantee
	for _, tier := range m.tiers {
		menu = append(menu, tier.Guarantee())
	}
	return menu
}

// Guarantee implements fl.Mechanism.
func (m *mechanism) Guarantee() fl.Guarantee { return m.tiers[0].Guarantee() }

func (m *mechanism) NewAggregator() fl.Aggregator {
	a := &aggregator{mechanism: m, reports: make([]int64, len(m.tiers))}
	for _, tier := range m.tiers {
		a.tiers = append(a.tiers, tier.NewAggregator())
	}
	return a
}
