package tiers

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
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
	rounds, err := tierRounds(r)
	if err != nil {
		return nil, err
	}
	digest, err := r.Digest()
	if err != nil {
		return nil, err
	}
	m := &mechanism{round: r, radius: radius * r.Scale, digest: digest}
	for _, tier := range rounds {
		base, err := fl.Open(tier)
		if err != nil {
			return nil, err
		}
		if g := base.Guarantee(); g.Model != fl.Local {
			return nil, fl.Invalid(ParamBase, tier.Mechanism, "must be a local mechanism, its guarantee is %v", g)
		}
		m.tiers = append(m.tiers, base)
	}
	return m, nil
}

// Complete implements fl.Completer. An open Epsilon is the menu's largest.
func (factory) Complete(r fl.Round) (fl.Round, error) {
	if !r.Params.Has(ParamRadius) {
		r.Params = r.Params.With(ParamRadius, fl.Real(0))
	}
	return r, nil
}

// tierRounds returns the complete round of each tier.
func tierRounds(r fl.Round) ([]fl.Round, error) {
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
	var rounds []fl.Round
	for i, epsilon := range menu {
		tier := r
		tier.ID, tier.Mechanism, tier.Epsilon, tier.Params = fmt.Sprintf("tier-%d", i), base, epsilon, params
		tier.MinReports, tier.TargetReports = 1, 0
		if tier.PublicSeed, err = r.PublicKey(fmt.Sprintf("tiers/%d", i)); err != nil {
			return nil, err
		}
		if tier, err = fl.Complete(tier); err != nil {
			return nil, err
		}
		rounds = append(rounds, tier)
	}
	return rounds, nil
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
