package vectors

import (
	"fmt"
	"math"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/privacy"
)

// otherDeltas are readings of the δ that the paper does not give.
var otherDeltas = []float64{1e-5, 1e-6, 1e-7, 1e-8}

// fig2Verdicts are the claims about Figure 2, over its panels at each δ. The first δ is the run's δ.
func fig2Verdicts(all [][]amplification, epsilons []float64) []experiment.Verdict {
	least, first, last := math.Inf(1), math.Inf(1), math.Inf(1)
	for _, p := range all[0] {
		own := p.curves[0].ratio
		first, last = min(first, own[0]), min(last, own[len(own)-1])
		for _, c := range p.curves[1:] {
			for i, ratio := range c.ratio {
				if c.status == privacy.Proved && !math.IsNaN(ratio) {
					least = min(least, own[i]/ratio)
				}
			}
		}
	}
	out := []experiment.Verdict{
		{
			Claim: "Figure 2: our bound is at least as good as every other proved one", Holds: least >= 1,
			Paper: "tighter than known bounds", Ours: fmt.Sprintf("at least %.3g times the next best bound's ratio", least),
			Detail: fmt.Sprintf("in all panels and at all ε, δ = %g", all[0][0].delta),
		},
		{
			Claim: "Figure 2: local ε is at least twice the central ε in every panel", Holds: min(first, last) > 2,
			Ours:   fmt.Sprintf("at least %.3g times at ε = %g, %.3g at %g", first, epsilons[0], last, epsilons[len(epsilons)-1]),
			Detail: fmt.Sprintf("our bound, δ = %g", all[0][0].delta),
		},
	}
	for _, of := range []struct{ name, words, rest string }{
		{ours, "our proved bound", ""}, {"pair", "the paper's pair with the right α", "a counterexample shows that it is no bound"},
		{printed, "the paper's pair with the printed α", "there is one at few ε, and it is no bound either"},
	} {
		if v, ok := savingsVerdict(all, of.name); ok {
			v.Claim = fmt.Sprintf("Figure 2: %s saves 20 to 30 %% of the budget", of.words)
			if of.rest != "" {
				v.Detail += "; " + of.rest
			}
			out = append(out, v)
		}
	}
	return out
}

// savingsVerdict is the paper's claim that its bound saves 20 to 30 % of the budget against earlier ones. The
// average has to be in that range. It is not settled if it is at some δ only. ok is false where there
// is no such bound at any ε.
func savingsVerdict(all [][]amplification, name string) (v experiment.Verdict, ok bool) {
	holds, parts := 0, []string(nil)
	for i, panels := range all {
		saved, low, high, n := savings(panels, name)
		if n == 0 {
			return v, false
		}
		within := saved >= 0.2 && saved <= 0.3
		if within {
			holds++
		}
		if i == 0 {
			v.Holds, v.Paper = within, "20 to 30 %"
			v.Ours = fmt.Sprintf("%.1f %% on average at δ = %g", 100*saved, panels[0].delta)
		}
		parts = append(parts, fmt.Sprintf("at δ = %g %.0f %% (%.0f to %.0f)", panels[0].delta, 100*saved, 100*low, 100*high))
	}
	if holds > 0 && holds < len(all) {
		v.Unsettled = "the paper does not give its δ"
	}
	v.Detail = "against the best earlier bound, over all panels and local ε: " + strings.Join(parts, ", ")
	return v, true
}

// savings is the share by which central ε is below the central ε of the best earlier bound, over the
// panels and local ε.
func savings(panels []amplification, name string) (average, low, high float64, n int) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for i := range p.curves[0].ratio {
			own, earlier := math.NaN(), 0.0
			for _, c := range p.curves {
				switch c.name {
				case name:
					own = c.ratio[i]
				case printed, "pair", ours:
				default:
					if !math.IsNaN(c.ratio[i]) {
						earlier = max(earlier, c.ratio[i])
					}
				}
			}
			if math.IsNaN(own) {
				continue
			}
			saved := 1 - earlier/own
			average += saved
			low, high = min(low, saved), max(high, saved)
			n++
		}
	}
	if n > 0 {
		average /= float64(n)
	}
	return average, low, high, n
}
