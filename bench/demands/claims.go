package demands

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// ratio returns how many times larger the errors of a scheme are than those of another, in the
// geometric mean over the data sets, with its 95 % interval.
func (g group) ratio(m measure, name, other string) experiment.Interval {
	logs := slices.Clone(g.of(m, name))
	for d, e := range g.of(m, other) {
		logs[d] = math.Log(logs[d] / e)
	}
	r := experiment.MeanInterval(logs)
	return experiment.Interval{Value: math.Exp(r.Value), Low: math.Exp(r.Low), High: math.Exp(r.High)}
}

// beats says whether the errors of a scheme are clearly smaller than those of another.
func (g group) beats(m measure, name, other string) bool { return g.ratio(m, other, name).Low > 1 }

// best claims that a scheme beats others in both measures.
func (g group) best(claim, name string, others ...string) experiment.Verdict {
	v := experiment.Verdict{Claim: g.name + ": " + claim, Holds: true}
	var details []string
	for _, m := range measures {
		var parts []string
		for _, other := range others {
			v.Holds = v.Holds && g.beats(m, name, other)
			parts = append(parts, fmt.Sprintf("%s %s", other, g.times(m, other, name)))
		}
		details = append(details, fmt.Sprintf("%s: of %s, %s", m, name, strings.Join(parts, ", ")))
	}
	v.Detail = strings.Join(details, "; ")
	return v
}

// times writes a ratio, with its interval where it is close to 1.
func (g group) times(m measure, name, other string) string {
	r := g.ratio(m, name, other)
	if r.Low > 1.2 || r.High < 1/1.2 {
		return fmt.Sprintf("%.3g times", r.Value)
	}
	return fmt.Sprintf("%.3g times (%.3g to %.3g)", r.Value, r.Low, r.High)
}

// unbeaten claims that no other scheme beats one.
func (g group) unbeaten(claim, name string, others ...string) experiment.Verdict {
	v := g.best(claim, name, others...)
	v.Holds = true
	for _, m := range measures {
		for _, other := range others {
			v.Holds = v.Holds && !g.beats(m, other, name)
		}
	}
	return v
}

// numbers claims that the paper's row is one that data of the law gives: that each of its
// numbers, up to the rounding of print, lies between the smallest and the largest of the data
// sets.
func (g group) numbers() experiment.Verdict {
	v := experiment.Verdict{Claim: g.name + ": data of this law give the numbers that the paper prints"}
	var inside int
	var out []string
	for m, measure := range measures {
		for s := range (row{}) {
			value, half, err := g.paper[measure].printed(s)
			least, largest := slices.Min(g.errors[m][s]), slices.Max(g.errors[m][s])
			if err == nil && least <= value+half && value-half <= largest {
				inside++
				continue
			}
			out = append(out, fmt.Sprintf("%s of %s %s, here %.2g to %.2g", measure, g.list[s].name, g.paper[measure][s], least, largest))
		}
	}
	v.Holds = len(out) == 0
	v.Detail = fmt.Sprintf("%d of %d numbers", inside, inside+len(out))
	if len(out) > 0 {
		v.Detail += "; not: " + strings.Join(out, "; ")
	}
	return v
}

// pooled claims something of several laws, the readings of one of the paper's sets.
func pooled(claim string, parts []experiment.Verdict) experiment.Verdict {
	v := experiment.Verdict{Claim: claim, Holds: true}
	var held, missed []string
	for _, p := range parts {
		name, _, _ := strings.Cut(p.Claim, ":")
		reading := name[strings.LastIndex(name, " ")+1:]
		if p.Holds {
			held = append(held, reading)
			continue
		}
		v.Holds = false
		missed = append(missed, reading)
	}
	v.Detail = fmt.Sprintf("in %d of %d readings", len(held), len(parts))
	if len(held) > 0 {
		v.Detail += ": " + strings.Join(held, ", ")
	}
	if len(missed) > 0 {
		v.Detail += "; not in " + strings.Join(missed, ", ")
	}
	return v
}

// histogramClaims are what the paper says about Table 4 and Figure 2, and one claim of ours.
func histogramClaims(groups []group) []experiment.Verdict {
	var out []experiment.Verdict
	sets := map[string][4][]experiment.Verdict{}
	for _, g := range groups {
		switch {
		case g.set == "UC salaries":
			out = append(out,
				g.best("C is the best, before A", "C", heuristic, proportional, uniform, jorgensen, localReports),
				g.best("A is the next best", heuristic, proportional, uniform, jorgensen, localReports),
				g.unbeaten("LDP is on par with some central baselines: SM does not beat it", localReports, jorgensen),
				g.numbers())
		case g.correlated:
			claims := sets[g.set]
			claims[0] = append(claims[0], g.best("", heuristic, "C"))
			claims[1] = append(claims[1], g.best("", "C", "C-T"))
			claims[2] = append(claims[2], g.unbeaten("", localReports, jorgensen))
			claims[3] = append(claims[3], g.unbeaten("", "calibrated C", baselines...))
			sets[g.set] = claims
		default:
			out = append(out,
				g.best("A is the best", heuristic, "U", proportional, uniform, jorgensen, localReports),
				g.unbeaten("U is not beaten by a baseline", "U", baselines...),
				g.sameRisk(),
				g.unbeaten("calibrated U (ours) is not beaten by a baseline", "calibrated U", baselines...),
				g.numbers())
		}
	}
	for _, k := range []int{5, 20} {
		set := synthetic(k)
		for i, claim := range []string{"A is better than C", "C is better than C-T", "LDP is on par with some central baselines: SM does not beat it", "calibrated C (ours) is not beaten by a baseline"} {
			out = append(out, pooled(set+", correlated, every reading: "+claim, sets[set][i]))
		}
	}
	return out
}

// sameRisk claims that U and U-T are identical.
func (g group) sameRisk() experiment.Verdict {
	v := experiment.Verdict{Claim: g.name + ": the weights of U and U-T are the same", Holds: true}
	worst := 0.
	at := func(name string) int {
		return slices.IndexFunc(g.list, func(s scheme) bool { return s.name == name })
	}
	for m := range measures {
		for d, risk := range g.risks[m][at("U")] {
			worst = max(worst, math.Abs(g.risks[m][at("U-T")][d]/risk-1))
		}
	}
	v.Holds, v.Detail = worst < 1e-9, fmt.Sprintf("their risks differ by %.2g at most, relatively", worst)
	return v
}

// meanClaims are what the paper says about Table 5, or its numbers do.
func meanClaims(groups []group) []experiment.Verdict {
	var out []experiment.Verdict
	for _, g := range groups {
		switch {
		case g.set == "UC salaries":
		case g.correlated:
			out = append(out, g.best("C is better than A", "C", heuristic))
		default:
			out = append(out, g.best("A is the best", heuristic, "U", proportional, uniform, jorgensen, localReports))
		}
		out = append(out, g.numbers())
	}
	return out
}
