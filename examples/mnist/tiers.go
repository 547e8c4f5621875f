package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// tier is a part of the clients and the local ε that they choose.
type tier struct{ epsilon, share float64 }

// parseTiers reads "0.5:0.5,2:0.3,8:0.2": increasing ε with shares that sum to 1.
func parseTiers(text string) ([]tier, error) {
	if text == "" {
		return nil, nil
	}
	var tiers []tier
	sum := 0.0
	for field := range strings.SplitSeq(text, ",") {
		left, right, ok := strings.Cut(field, ":")
		epsilon, errE := strconv.ParseFloat(strings.TrimSpace(left), 64)
		share, errS := strconv.ParseFloat(strings.TrimSpace(right), 64)
		if !ok || errE != nil || errS != nil || !(epsilon > 0 && epsilon <= fl.MaxEpsilon) || !(share > 0 && share <= 1) ||
			len(tiers) > 0 && epsilon <= tiers[len(tiers)-1].epsilon {
			return nil, fl.Invalid("-tiers", text, `must be increasing ε with shares, like "0.5:0.5,2:0.3,8:0.2"`)
		}
		tiers = append(tiers, tier{epsilon, share})
		sum += share
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fl.Invalid("-tiers", text, "the shares must sum to 1, they sum to %g", sum)
	}
	return tiers, nil
}

// menu is the tiers' ε as a parameter of a round.
func menu(tiers []tier) string {
	var out []string
	for _, t := range tiers {
		out = append(out, strconv.FormatFloat(t.epsilon, 'g', -1, 64))
	}
	return strings.Join(out, ",")
}

// describe says who promises what to whom.
func describe(tiers []tier) string {
	var out []string
	for _, t := range tiers {
		out = append(out, fmt.Sprintf("ε = %g for %g %%", t.epsilon, 100*t.share))
	}
	return strings.Join(out, ", ") + " of the clients"
}

// tierOf is the tier of a client. Clients are in random order, and every cohort has the
// same share of each.
func (c config) tierOf(client int) int {
	place := (float64(client%c.cohort) + 0.5) / float64(c.cohort)
	for i, t := range c.menu {
		if place -= t.share; place < 0 {
			return i
		}
	}
	return max(0, len(c.menu)-1)
}
