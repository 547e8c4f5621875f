package shufflesum

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func spreadOf(values []float64) float64 { return slices.Max(values) / slices.Min(values) }

func ends(values []float64) float64 { return values[len(values)-1] / values[0] }

// sums is the section of the paper about sums, and of its figures.
const sums = "9.2"

// flat claims that errors hardly change along the axis, in any panel.
func flat(panels []points, names ...string) experiment.Verdict {
	const most = 3
	largest, where, parts := 0., "", []string{}
	for _, at := range panels {
		for _, name := range names {
			ratio := spreadOf(at.errors[name])
			if ratio > largest {
				largest, where = ratio, name+", "+at.title
			}
			parts = append(parts, fmt.Sprintf("%s %.3g at %s", name, ratio, at.title))
		}
	}
	return experiment.Verdict{
		Claim:   fmt.Sprintf("Figure 3: n = 10³ to 10⁹ does not change the error of %s", strings.Join(names, ", ")),
		Section: sums, Quote: "error levels for all mechanisms did not exhibit significant changes",
		Criterion: fmt.Sprintf("largest error below %d times the smallest, at every ε", most),
		Holds:     largest < most,
		Ours:      fmt.Sprintf("up to %.3g times (%s)", largest, where),
		Detail:    strings.Join(parts, ", "),
	}
}

// akin claims that SumDP's errors are like the errors of central DP.
func akin(panels []points) experiment.Verdict {
	const most = 10
	worst, where, parts := 0., "", []string{}
	for _, at := range panels {
		largest := 0.
		for i, e := range at.errors[sumDPName] {
			if ratio := e / at.errors[centralName][i]; ratio > largest {
				largest = ratio
			}
		}
		if largest > worst {
			worst, where = largest, at.title
		}
		parts = append(parts, fmt.Sprintf("%.3g at %s", largest, at.title))
	}
	return experiment.Verdict{
		Claim:   "Figure 3: the error of SumDP is akin to central DP's",
		Section: sums, Quote: "akin to the state-of-the-art central-DP mechanism",
		Criterion: fmt.Sprintf("at most %d times at every n and ε", most),
		Holds:     worst <= most,
		Ours:      fmt.Sprintf("up to %.3g times (%s)", worst, where),
		Detail:    strings.Join(parts, ", "),
	}
}

// messagesClaim is a claim about one mechanism's messages in all panels.
func messagesClaim(panels []points, name, claim, quote, criterion string, holds func(messages []float64) bool) experiment.Verdict {
	v := experiment.Verdict{Claim: "Figure 3: " + claim, Section: sums, Quote: quote, Criterion: criterion, Holds: true}
	var parts []string
	for _, at := range panels {
		m := at.messages[name]
		v.Holds = v.Holds && holds(m)
		parts = append(parts, fmt.Sprintf("%.3g to %.3g at %s", m[0], m[len(m)-1], at.title))
	}
	v.Ours = strings.Join(parts, ", ")
	return v
}

func falling(m []float64) bool {
	return slices.IsSortedFunc(m, func(a, b float64) int { return cmp.Compare(b, a) })
}

// towardsOne says whether messages above one fall by a half at least with each tenfold n in the end.
func towardsOne(m []float64) bool {
	for i := len(m) - 2; i < len(m); i++ {
		if m[i]-1 > (m[i-1]-1)/2 {
			return false
		}
	}
	return true
}

func fig3Claims(panels []points) []experiment.Verdict {
	const trend = "demonstrate a progression towards single-message communication per user"
	const fall = "messages beyond the first at most half at 10⁸ and at 10⁹ of those at a tenth"
	return []experiment.Verdict{
		flat(panels, "GKMPS", "BBGN", centralName), flat(panels, sumDPName), akin(panels),
		messagesClaim(panels, "GKMPS", "messages of GKMPS fall with n", "a decrease in the average messages per user with larger",
			"never more at the next n, and less at the last than at the first", func(m []float64) bool { return falling(m) && m[len(m)-1] < m[0] }),
		messagesClaim(panels, "BBGN", "messages of BBGN stay constant", "BBGN maintained a constant message complexity",
			"most below 3 times the fewest", func(m []float64) bool { return spreadOf(m) < 3 }),
		messagesClaim(panels, sumDPName, "messages of SumDP stay for small n, then fall", "maintained its message complexity for smaller […], then gradually decreased",
			"from 10³ to 10⁴ by less than 2 times; at 10⁹ below a third of the most", func(m []float64) bool {
				return spreadOf(m[:2]) < 2 && m[len(m)-1] < slices.Max(m)/3
			}),
		messagesClaim(panels, "GKMPS", "messages of GKMPS approach one", trend, fall, towardsOne),
		messagesClaim(panels, sumDPName, "messages of SumDP approach one", trend, fall, towardsOne),
	}
}

func fig4Claims(panels []points) []experiment.Verdict {
	at := panels[0]
	g, b, s := ends(at.errors["GKMPS"]), ends(at.errors["BBGN"]), ends(at.errors[sumDPName])
	return []experiment.Verdict{{
		Claim:   "Figure 4: the errors of GKMPS and BBGN are proportional to U",
		Section: sums, Quote: "GKMPS and BBGN have error proportional to U",
		Criterion: "10⁵/2 to 2·10⁵ times for 10⁵ times U",
		Holds:     g > 1e5/2 && g < 2e5 && b > 1e5/2 && b < 2e5,
		Ours:      fmt.Sprintf("%s and %s times", short(g), short(b)),
		Detail:    at.title + ", U = 10³ to 10⁸",
	}, {
		Claim:   "Figure 4: the error of SumDP follows the largest input and not U",
		Section: sums, Quote: "have the error proportional to the actual maximum value",
		Criterion: "1/3 to 3 times for 10⁵ times U",
		Holds:     s < 3 && s > 1./3,
		Ours:      fmt.Sprintf("%.3g times", s),
		Detail:    fmt.Sprintf("%s; the largest input is %g to %g", at.title, slices.Min(at.largest), slices.Max(at.largest)),
	}}
}

func fig5Claims(panels []points) []experiment.Verdict {
	at := panels[0]
	last := len(at.x) - 1
	s, other := at.errors[sumDPName], min(at.errors["GKMPS"][last], at.errors["BBGN"][last])
	least, most := math.Inf(1), 0.
	for i, e := range s {
		least, most = min(least, e/at.largest[i]), max(most, e/at.largest[i])
	}
	return []experiment.Verdict{{
		Claim:   "Figure 5: the error of SumDP is proportional to the largest input",
		Section: sums, Quote: "have the error proportional to the actual maximum value",
		Criterion: "error over largest input within a factor of 5",
		Holds:     most <= 5*least,
		Ours:      fmt.Sprintf("%.3g to %.3g times the largest input", least, most),
		Detail:    fmt.Sprintf("%s; errors of %s to %s for inputs up to %g to %g", at.title, short(s[0]), short(s[last]), at.largest[0], at.largest[last]),
	}, {
		Claim:   "Figure 5: where the largest input reaches U, SumDP is nearly as good as GKMPS and BBGN",
		Section: sums, Quote: "achieves an error level nearly the same as the GKMPS",
		Criterion: "0.5 to 2 times the better one's error",
		Holds:     s[last] <= 2*other && s[last] >= other/2,
		Ours:      fmt.Sprintf("%.3g times", s[last]/other),
		Detail:    fmt.Sprintf("%s; %.3g against %.3g at σ = 10⁵", at.title, s[last], other),
	}}
}
