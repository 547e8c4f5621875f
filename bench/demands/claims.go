package demands

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// ratio returns how many times larger the errors of a scheme are than another scheme's errors, in the
// geometric mean over the data sets, with its 95 % interval.
func (g group) ratio(m measure, name, other string) experiment.Interval {
	logs := slices.Clone(g.of(m, name))
	for d, e := range g.of(m, other) {
		logs[d] = math.Log(logs[d] / e)
	}
	r := experiment.MeanInterval(logs)
	return experiment.Interval{Value: math.Exp(r.Value), Low: math.Exp(r.Low), High: math.Exp(r.High)}
}

// beats says whether the errors of a scheme are clearly smaller than another scheme's errors.
func (g group) beats(m measure, name, other string) bool { return g.ratio(m, other, name).Low > 1 }

// finding is what one reading of a data set says about a claim.
type finding struct {
	reading      string
	holds        bool
	inside       int // of the paper's numbers
	ours, detail string
}

// best says whether a scheme beats others in both measures.
func (g group) best(name string, others ...string) finding {
	f := finding{reading: g.reading(), holds: true}
	var details []string
	var nearest []string
	for _, m := range measures {
		closest, what := experiment.Interval{Value: math.Inf(1)}, ""
		var parts []string
		for _, other := range others {
			f.holds = f.holds && g.beats(m, name, other)
			if r := g.ratio(m, other, name); r.Value < closest.Value {
				closest, what = r, other
			}
			parts = append(parts, fmt.Sprintf("%s %s", other, g.times(m, other, name)))
		}
		nearest = append(nearest, fmt.Sprintf("%s: %s %.3g times %s [%.3g, %.3g]", m, what, closest.Value, name, closest.Low, closest.High))
		details = append(details, fmt.Sprintf("%s: of %s, %s", m, name, strings.Join(parts, ", ")))
	}
	f.ours = strings.Join(nearest, "; ")
	f.detail = strings.Join(details, "; ")
	return f
}

// times writes a ratio, with its interval where it is close to 1.
func (g group) times(m measure, name, other string) string {
	r := g.ratio(m, name, other)
	if r.Low > 1.2 || r.High < 1/1.2 {
		return fmt.Sprintf("%.3g times", r.Value)
	}
	return fmt.Sprintf("%.3g times [%.3g, %.3g]", r.Value, r.Low, r.High)
}

// unbeaten says whether no other scheme beats one.
func (g group) unbeaten(name string, others ...string) finding {
	f := g.best(name, others...)
	f.holds = true
	for _, m := range measures {
		for _, other := range others {
			f.holds = f.holds && !g.beats(m, other, name)
		}
	}
	return f
}

// numbers says whether the paper's row is one that data of the law give: whether each of its
// numbers, up to the rounding of print, lies between the smallest and the largest of the data
// sets.
func (g group) numbers() finding {
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
	f := finding{reading: g.reading(), holds: len(out) == 0, inside: inside, ours: fmt.Sprintf("%d of %d within ours", inside, inside+len(out))}
	if len(out) > 0 {
		f.detail = "not: " + strings.Join(out, "; ")
	}
	return f
}

// good says whether a scheme's errors are at most a factor above the best one's of others, in both measures.
func (g group) good(name string, factor float64, others ...string) finding {
	f := finding{reading: g.reading(), holds: true}
	var details []string
	worst, what := 0., ""
	for _, m := range measures {
		for _, other := range others {
			r := g.ratio(m, name, other)
			f.holds = f.holds && r.Value <= factor
			if r.Value > worst {
				worst, what = r.Value, other
			}
			details = append(details, fmt.Sprintf("%s of %s %.3g times", m, other, r.Value))
		}
	}
	f.ours = fmt.Sprintf("%.3g times the error of %s at most", worst, what)
	f.detail = strings.Join(details, "; ")
	return f
}

// par says whether a scheme's errors are within a factor of the same other scheme's errors, from above and from
// below: their quantile and their root mean square.
func (g group) par(name string, factor float64, others ...string) finding {
	f := finding{reading: g.reading()}
	nearest := math.Inf(1)
	var details []string
	for _, other := range others {
		away, parts := 0., []string{}
		for _, m := range measures {
			r, title := g.ratio(m, name, other).Value, m.String()
			if m == square {
				r, title = math.Sqrt(r), "root "+title
			}
			away = max(away, math.Abs(math.Log(r)))
			parts = append(parts, fmt.Sprintf("%s %.3g times", title, r))
		}
		f.holds = f.holds || away <= math.Log(factor)
		ratios := fmt.Sprintf("of %s, %s", other, strings.Join(parts, ", "))
		if away < nearest {
			nearest, f.ours = away, ratios
		}
		details = append(details, ratios)
	}
	f.detail = strings.Join(details, "; ")
	return f
}

// sameRisk says whether U and U-T are identical.
func (g group) sameRisk() finding {
	worst := 0.
	at := func(name string) int {
		return slices.IndexFunc(g.list, func(s scheme) bool { return s.name == name })
	}
	for m := range measures {
		for d, risk := range g.risks[m][at("U")] {
			worst = max(worst, math.Abs(g.risks[m][at("U-T")][d]/risk-1))
		}
	}
	return finding{reading: g.reading(), holds: worst < 1e-9, ours: fmt.Sprintf("risks differ by %.2g at most, relatively", worst)}
}

// reading names the law among the laws of one data set.
func (l law) reading() string { return strings.TrimSpace(l.name[strings.LastIndex(l.name, ",")+1:]) }

// about makes a verdict of findings, one for each reading of a data set whose law the paper leaves open.
func about(v experiment.Verdict, found ...finding) experiment.Verdict {
	if len(found) == 1 {
		v.Holds, v.Ours, v.Detail = found[0].holds, found[0].ours, found[0].detail
		return v
	}
	var held, details []string
	for _, f := range found {
		if f.holds {
			held = append(held, f.reading)
		}
		details = append(details, fmt.Sprintf("%s: %s", f.reading, f.ours))
	}
	v.Readings = experiment.Share{Held: len(held), Of: len(found)}
	v.Holds = len(held) == len(found)
	v.Ours = fmt.Sprintf("in %d of %d readings", len(held), len(found))
	if !v.Holds && len(held) > 0 {
		v.Ours += ": " + strings.Join(held, ", ")
	}
	v.Detail = strings.Join(details, "; ")
	return v
}
