package keyvalues

import (
	"fmt"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// verdicts are the paper's claims: PCKV has the smallest errors, and they are as the
// theorem says.
func (s sweep) verdicts(points []*point) []experiment.Verdict {
	var out []experiment.Verdict
	for quantity, name := range quantities {
		for i, over := range scopes {
			what := fmt.Sprintf("MSE of the %s, %s", name, over.name)
			out = append(out, smallest(points, quantity, i, what), agreement(points, quantity, i, what))
		}
	}
	return out
}

// smallest compares the better one of PCKV's mechanisms with the others.
func smallest(points []*point, quantity, over int, what string) experiment.Verdict {
	type setting struct {
		distribution int
		dim          int
		epsilon      float64
	}
	type pair struct{ own, other float64 }
	least := map[setting]*pair{}
	var order []setting
	for _, at := range points {
		key := setting{at.distribution, at.dim, at.epsilon}
		if least[key] == nil {
			least[key] = &pair{math.Inf(1), math.Inf(1)}
			order = append(order, key)
		}
		side := &least[key].other
		if isPCKV(rivals[at.rival].name) {
			side = &least[key].own
		}
		*side = min(*side, at.scores[quantity][over].mse.Value)
	}
	gain := 0.0
	var not []string
	for _, key := range order {
		p := least[key]
		gain += math.Log(p.other/p.own) / float64(len(order))
		if p.own > p.other {
			not = append(not, fmt.Sprintf("%s keys, d = %d, ε = %g", distributions[key.distribution], key.dim, key.epsilon))
		}
	}
	detail := fmt.Sprintf("in %d of %d settings; the best other one has %.3g times the error in the geometric mean",
		len(order)-len(not), len(order), math.Exp(gain))
	if len(not) > 0 {
		detail += "; not at " + strings.Join(not, "; ")
	}
	return experiment.Verdict{
		Claim:  "PCKV-UE or PCKV-GRR has the smallest " + what,
		Holds:  len(not) == 0,
		Detail: detail,
	}
}

const (
	// slack is by how much the errors of means may differ from the theorem's first-order
	// approximation, smallError where it is one.
	slack      = 0.25
	smallError = 0.01
	// deviations of the repeats that are put down to chance.
	deviations = 5
)

// agreement compares the errors of PCKV with the theory, which is exact for frequencies.
func agreement(points []*point, quantity, over int, what string) experiment.Verdict {
	v := experiment.Verdict{Claim: "PCKV's " + what + ", is that of Theorem 4 but for chance", Holds: true}
	allowed := 0.0
	if quantity == mean {
		allowed = slack
		v.Claim = fmt.Sprintf("PCKV's %s, is within %g %% of the theory where that is below %g, but for chance", what, 100*slack, smallError)
	}
	low, high, settings, within := math.Inf(1), math.Inf(-1), 0, 0
	for _, at := range points {
		c := at.scores[quantity][over]
		if c.theory.mse == 0 || quantity == mean && c.theory.mse >= smallError {
			continue
		}
		ratio := c.mse.Value / c.theory.mse
		low, high = min(low, ratio), max(high, ratio)
		settings++
		if math.Abs(ratio-1) <= allowed+deviations*c.theory.spread {
			within++
		}
	}
	v.Holds = within == settings && settings > 0
	v.Detail = fmt.Sprintf("%d of %d settings", within, settings)
	if settings > 0 {
		v.Detail += fmt.Sprintf(", measured over theory from %.3g to %.3g", low, high)
	}
	return v
}
