// Package tiers lets the clients of one round choose their own ε from a menu. Use it when clients
// differ in how much privacy they want. Import the package for its effect and start with a
// round of the mechanism [Name].
//
// A round of "tiers" runs a local mechanism once per tier. Its Epsilon is the largest ε of the
// menu, and its parameters are
//
//	base    the local mechanism, for example "coco"
//	menu    the ε on offer, increasing, separated by commas: "0.5,2,8"
//	radius  how far the mean of each tier's clients may lie from a common value, per
//	        coordinate and in units of Scale; 0 says that a client's choice of ε has
//	        nothing to do with its data
//
// and all parameters of the base mechanism that hold for every tier. What depends on
// ε, such as the number of slots, is chosen per tier. A report is one byte for the tier
// and the base mechanism's report. Which tier a client chose is public.
//
// The server keeps one aggregator per tier. The estimate is the weighted mean of the
// tiers' means, by [Combine] with the tiers' shares of the reports and their exact
// variances, or those that their standard errors say where the base mechanism does not know them.
// With radius 0 it is unbiased and has the
// smallest variance. Otherwise the weights also keep near the shares, because
// clients that ask for more privacy may differ from the others. The standard errors then
// hold for the mean weighted as the estimate says.
//
// Source: Chaudhuri and Courtade, "Empirical Mean and Frequency Estimation Under
// Heterogeneous Privacy: A Worst-Case Analysis", for the trade-off. The tiers are its
// counterpart in the local model.
package tiers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/count"
)

// Name is the registered name.
const Name = "tiers"

// Names of the parameters in Round.Params.
const (
	ParamBase   = "base"
	ParamMenu   = "menu"
	ParamRadius = "radius"
)

// maxTiers bounds the menu: a report names its tier in a byte.
const maxTiers = 16

func init() { fl.Register(Name, factory{}) }

type factory struct{}

// Open implements fl.Factory.
func (factory) Open(r fl.Round) (fl.Mechanism, error) {
	radius, err := r.Params.Real(ParamRadius)
	if err != nil {
		return nil, err
	}
	if !(radius >= 0 && radius <= 1e6) {
		return nil, fl.Invalid(ParamRadius, radius, "must be in [0, 1e6]")
	}
	tiers, err := openTiers(r)
	if err != nil {
		return nil, err
	}
	round, err := count.NewRound(r)
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: round, radius: radius, tiers: tiers}
	for _, tier := range tiers {
		if _, ok := tier.(fl.SeededMechanism); !ok {
			return m, nil
		}
	}
	return seeded{m}, nil
}

// Complete implements fl.Completer. An open Epsilon is the menu's largest.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	if !r.Params.Has(ParamRadius) {
		r.Params = r.Params.With(ParamRadius, fl.Real(0))
	}
	return r, nil
}

// mechanism implements fl.TieredMechanism.
type mechanism struct {
	round  *count.Round
	radius float64        // in units of Scale
	tiers  []fl.Mechanism // the smallest ε first
}

var _ fl.TieredMechanism = (*mechanism)(nil)

// seeded is a mechanism whose tiers are all fl.SeededMechanisms.
type seeded struct{ *mechanism }

var _ fl.SeededMechanism = seeded{}

// WithSeed implements fl.SeededMechanism.
func (m seeded) WithSeed(seed uint32) fl.Mechanism {
	assigned := *m.mechanism
	assigned.tiers = make([]fl.Mechanism, len(m.tiers))
	for i, tier := range m.tiers {
		assigned.tiers[i] = tier.(fl.SeededMechanism).WithSeed(seed)
	}
	return seeded{&assigned}
}

// SeedOf implements fl.SeededMechanism.
func (m seeded) SeedOf(report []byte) (uint32, error) {
	tier, rest, err := m.split(report)
	if err != nil {
		return 0, m.round.Wrap("seed", err)
	}
	return m.tiers[tier].(fl.SeededMechanism).SeedOf(rest)
}

// Encode implements fl.Mechanism, under the strictest guarantee.
func (m *mechanism) Encode(dst []byte, grad []float64, rng *rand.Rand) ([]byte, error) {
	return m.EncodeTier(dst, 0, grad, rng)
}

// EncodeTier implements fl.TieredMechanism.
func (m *mechanism) EncodeTier(dst []byte, tier int, grad []float64, rng *rand.Rand) ([]byte, error) {
	if tier < 0 || tier >= len(m.tiers) {
		return dst, m.round.Wrap("encode", fl.Invalid("tier", tier, "must be in [0, %d)", len(m.tiers)))
	}
	start := len(dst)
	out, err := m.tiers[tier].Encode(append(dst, byte(tier)), grad, rng)
	if err != nil {
		return dst[:start], m.round.Wrap("encode", err)
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

// NewAggregator implements fl.Mechanism.
func (m *mechanism) NewAggregator() fl.Aggregator { return m.newAggregator() }

// openTiers returns the mechanism of each tier.
func openTiers(r fl.Round) ([]fl.Mechanism, error) {
	base, err := r.Params.Text(ParamBase)
	if err != nil {
		return nil, err
	}
	if base == Name {
		return nil, fl.Invalid(ParamBase, base, "must be another mechanism")
	}
	menu, err := readMenu(r)
	if err != nil {
		return nil, err
	}
	params := fl.Params{}
	for name, value := range r.Params {
		if name != ParamBase && name != ParamMenu && name != ParamRadius {
			params[name] = value
		}
	}
	var tiers []fl.Mechanism
	for i, epsilon := range menu {
		tier := r
		tier.ID, tier.Mechanism, tier.Epsilon, tier.Params = fmt.Sprintf("tier-%d", i), base, epsilon, params
		tier.MinReports, tier.TargetReports = 1, 0
		if tier.PublicSeed, err = r.PublicKey(fmt.Sprintf("tiers/%d", i)); err != nil {
			return nil, err
		}
		tier, m, err := fl.Complete(tier)
		if err != nil {
			return nil, err
		}
		if g := m.Guarantee(); g.Trust != fl.Local {
			return nil, fl.Invalid(ParamBase, tier.Mechanism, "must be a local mechanism, its guarantee is %v", g)
		}
		tiers = append(tiers, m)
	}
	return tiers, nil
}

// readMenu returns the ε on offer.
func readMenu(r fl.Round) ([]float64, error) {
	text, err := r.Params.Text(ParamMenu)
	if err != nil {
		return nil, err
	}
	var menu []float64
	for field := range strings.SplitSeq(text, ",") {
		epsilon, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(epsilon > 0 && epsilon <= fl.MaxEpsilon) || len(menu) > 0 && epsilon <= menu[len(menu)-1] || len(menu) == maxTiers {
			return nil, fl.Invalid(ParamMenu, text, "must list at most %d increasing numbers in (0, %d], separated by commas", maxTiers, fl.MaxEpsilon)
		}
		menu = append(menu, epsilon)
	}
	if largest := menu[len(menu)-1]; math.Abs(r.Epsilon-largest) > 0 {
		return nil, fl.Invalid("epsilon", r.Epsilon, "must be the largest of the menu, %g", largest)
	}
	return menu, nil
}
