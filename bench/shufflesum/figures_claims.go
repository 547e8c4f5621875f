package shufflesum

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func spreadOf(values []float64) float64 { return slices.Max(values) / slices.Min(values) }

func ends(values []float64) float64 { return values[len(values)-1] / values[0] }

// flat claims that errors hardly change along the axis, in any panel.
func flat(panels []points, names ...string) experiment.Verdict {
	most, where, parts := 0., "", []string{}
	for _, at := range panels {
		for _, name := range names {
			ratio := spreadOf(at.errors[name])
			if ratio > most {
				most, where = ratio, name+", "+at.title
			}
			parts = append(parts, fmt.Sprintf("%s %.3g at %s", name, ratio, at.title))
		}
	}
	return experiment.Verdict{
		Claim:  fmt.Sprintf("Figure 3: n = 10³ to 10⁹ does not change the error of %s", strings.Join(names, ", ")),
		Holds:  most < 3,
		Ours:   fmt.Sprintf("differs up to %.3g times (%s)", most, where),
		Paper:  "does not change",
		Detail: fmt.Sprintf("largest error over smallest: %s; less than 3 counts", strings.Join(parts, ", ")),
	}
}

func fig3Claims(panels []points) []experiment.Verdict {
	falls := experiment.Verdict{
		Claim: "Figure 3: messages of GKMPS fall with n, BBGN's stay, SumDP's fall in the end",
		Paper: "GKMPS's fall, BBGN's stay, SumDP's fall in the end",
	}
	var parts, g9, s9 []string
	one, shape := true, 0
	for _, at := range panels {
		g, b, s := at.messages["GKMPS"], at.messages["BBGN"], at.messages[sumDPName]
		last := len(s) - 1
		if slices.IsSortedFunc(g, func(a, b float64) int { return cmp.Compare(b, a) }) && spreadOf(b) < 3 && s[last] < s[0]/3 {
			shape++
		}
		one = one && g[last] < 2 && s[last] < 2
		g9, s9 = append(g9, fmt.Sprintf("%.3g", g[last])), append(s9, fmt.Sprintf("%.3g", s[last]))
		parts = append(parts, fmt.Sprintf("%s: GKMPS %.3g to %.3g, BBGN %.3g to %.3g, SumDP %.3g to %.3g", at.title, g[0], g[last], b[0], b[last], s[0], s[last]))
	}
	falls.Holds = shape == len(panels)
	falls.Ours = fmt.Sprintf("so for %d of %d ε", shape, len(panels))
	falls.Detail = "from n = 10³ to 10⁹, " + strings.Join(parts, "; ")
	return []experiment.Verdict{flat(panels, "GKMPS", "BBGN", centralName), flat(panels, sumDPName), falls, {
		Claim:  "Figure 3: messages of GKMPS and SumDP approach one per client",
		Holds:  one,
		Ours:   fmt.Sprintf("GKMPS %s; SumDP %s", strings.Join(g9, ", "), strings.Join(s9, ", ")),
		Paper:  "towards 1",
		Detail: "at n = 10⁹ and ε = 0.2, 1, 5, with certified constants; below 2 counts",
	}}
}

func fig4Claims(panels []points) []experiment.Verdict {
	at := panels[0]
	g, b, s := ends(at.errors["GKMPS"]), ends(at.errors["BBGN"]), ends(at.errors[sumDPName])
	return []experiment.Verdict{{
		Claim:  "Figure 4: the errors of GKMPS and BBGN are proportional to U",
		Holds:  g > 1e5/2 && g < 2e5 && b > 1e5/2 && b < 2e5,
		Ours:   fmt.Sprintf("%s and %s times for 10⁵ times U", short(g), short(b)),
		Paper:  "proportional",
		Detail: at.title + ", U = 10³ to 10⁸; 10⁵/2 to 2·10⁵ counts",
	}, {
		Claim:  "Figure 4: the error of SumDP follows the largest input and not U",
		Holds:  s < 3,
		Ours:   fmt.Sprintf("%.3g times for 10⁵ times U", s),
		Paper:  "follows the largest input",
		Detail: fmt.Sprintf("%s; the largest input is %g to %g; less than 3 counts", at.title, slices.Min(at.largest), slices.Max(at.largest)),
	}}
}

func fig5Claims(panels []points) []experiment.Verdict {
	at := panels[0]
	last := len(at.x) - 1
	s, other := at.errors[sumDPName], min(at.errors["GKMPS"][last], at.errors["BBGN"][last])
	return []experiment.Verdict{{
		Claim:  "Figure 5: the error of SumDP grows with the largest input",
		Holds:  slices.IsSorted(s) && at.largest[last] == 1e5,
		Ours:   fmt.Sprintf("%s to %s for inputs up to %g to %g", short(s[0]), short(s[last]), at.largest[0], at.largest[last]),
		Paper:  "grows",
		Detail: at.title,
	}, {
		Claim:  "Figure 5: where the largest input reaches U, SumDP is nearly as good as GKMPS and BBGN",
		Holds:  s[last] <= 2*other,
		Ours:   fmt.Sprintf("%.3g times the better one's error", s[last]/other),
		Paper:  "nearly theirs",
		Detail: fmt.Sprintf("%s; %.3g against %.3g at σ = 10⁵; up to twice as much counts", at.title, s[last], other),
	}}
}
