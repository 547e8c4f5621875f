package demands

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// Why claims about a data set cannot be settled.
const (
	needsDownload  = "the data need a download, and the paper prints no histogram of them"
	openGenerator  = "the paper does not say how demands depend on data"
	openLaw        = "the paper prints neither the law of the demands nor the law of the data"
	contradictions = openLaw + ", and some of its cells contradict one another"
)

// dataSet is one of the paper's, under every reading of it.
type dataSet []group

// bySet puts readings of the same data together, in their order.
func bySet(groups []group) (sets []dataSet) {
	for _, g := range groups {
		if last := len(sets) - 1; last >= 0 && sets[last][0].set == g.set && sets[last][0].correlated == g.correlated {
			sets[last] = append(sets[last], g)
			continue
		}
		sets = append(sets, dataSet{g})
	}
	return sets
}

// each asks the same of every reading.
func (d dataSet) each(ask func(group) finding) []finding {
	var all []finding
	for _, g := range d {
		all = append(all, ask(g))
	}
	return all
}

func (d dataSet) best(name string, others ...string) []finding {
	return d.each(func(g group) finding { return g.best(name, others...) })
}

func (d dataSet) unbeaten(name string, others ...string) []finding {
	return d.each(func(g group) finding { return g.unbeaten(name, others...) })
}

func (d dataSet) title() string {
	switch set := d[0].set; {
	case set == salarySet || set == cancerSet || set == carefulSet:
		return set
	case d[0].correlated:
		return set + ", correlated"
	default:
		return set + ", uncorrelated"
	}
}

// quantiles writes what the paper prints for schemes.
func (d dataSet) quantiles(names ...string) string {
	var parts []string
	for _, name := range names {
		for s, scheme := range d[0].list[:len(row{})] {
			if scheme.name == name {
				parts = append(parts, name+" "+d[0].paper[quantile][s])
			}
		}
	}
	return strings.Join(parts, ", ")
}

// numbers compares all that the paper prints for a data set. Where its law is a reading of ours,
// the verdict says why the numbers settle nothing.
func (d dataSet) numbers(table, open string) experiment.Verdict {
	printed := d[0].paper[quantile]
	v := experiment.Verdict{
		Claim:     fmt.Sprintf("%s, %s: data of our law give all that the paper prints", table, d.title()),
		Unsettled: open,
		Paper:     "quantiles " + strings.Join(printed[:], ", "),
	}
	most := -1
	var details []string
	found := d.each(group.numbers)
	for _, f := range found {
		if f.inside > most {
			most, v.Holds, v.Ours = f.inside, f.holds, f.ours
			if len(d) > 1 {
				v.Ours += fmt.Sprintf(", reading %q at best", f.reading)
			}
		}
		details = append(details, fmt.Sprintf("%s: %s, %s", f.reading, f.ours, f.detail))
	}
	v.Detail = strings.Join(details, "; ")
	if len(d) == 1 {
		v.Detail = found[0].detail
	}
	return v
}

// histogramClaims are what the paper says about Table 4 and Figure 2, and claims of ours.
func histogramClaims(groups []group) []experiment.Verdict {
	var out []experiment.Verdict
	for _, d := range bySet(groups) {
		switch {
		case d[0].set == carefulSet:
			out = append(out, d[0].withinBounds())
		case d[0].correlated:
			out = append(out, d.correlatedClaims()...)
		default:
			out = append(out, d.uncorrelatedClaims()...)
		}
	}
	return out
}

func (d dataSet) correlatedClaims() []experiment.Verdict {
	in, open := "Table 4, "+d.title()+": ", openGenerator
	var out []experiment.Verdict
	if d[0].set == salarySet {
		open = needsDownload
		out = append(out,
			about(in+"C is the best", d.quantiles("C", heuristic), open, d.best("C", append([]string{heuristic}, baselines...)...)...),
			about(in+"A is the next best", d.quantiles(heuristic, proportional), open, d.best(heuristic, baselines...)...))
	} else {
		out = append(out,
			about(in+"A is better than C", d.quantiles(heuristic, "C"), open, d.best(heuristic, "C")...),
			about("Figure 2, "+d.title()+": C is better than C-T", "C better than C-T", open, d.best("C", "C-T")...))
	}
	return append(out,
		about(in+"LDP is on par with a central baseline, SM", d.quantiles(localReports, jorgensen), open, d.unbeaten(localReports, jorgensen)...),
		about(d.title()+": no baseline beats calibrated C, which is ours", "", "", d.unbeaten("calibrated C", baselines...)...),
		d.numbers("Table 4", open))
}

func (d dataSet) uncorrelatedClaims() []experiment.Verdict {
	in, open := "Table 4, "+d.title()+": ", openLaw
	out := []experiment.Verdict{
		about(in+"A is the best", d.quantiles(heuristic, "U", localReports), open, d.best(heuristic, append([]string{"U"}, baselines...)...)...),
		about(in+"no baseline beats U", d.quantiles("U", localReports, proportional), open, d.unbeaten("U", baselines...)...),
	}
	if d[0].set == cancerSet {
		open = "" // the paper has the law of the demands, and errors hardly depend on the histogram
	} else {
		out = append(out, about("Figure 2, "+d.title()+": U and U-T are the same", "the same", open, d.each(group.sameRisk)...))
	}
	return append(out,
		about(d.title()+": no baseline beats calibrated U, which is ours", "", "", d.unbeaten("calibrated U", baselines...)...),
		d.numbers("Table 4", open))
}

// withinBounds claims that A is below what was proved for it, on every data set.
func (g group) withinBounds() experiment.Verdict {
	v := experiment.Verdict{Claim: g.name + ": A is below the upper one of two bounds, whose constants are ours", Holds: true}
	errors := g.of(quantile, heuristic)
	for d, e := range errors {
		v.Holds = v.Holds && e < g.upper[d]
	}
	v.Ours = fmt.Sprintf("error %.2g, bounds %.2g and %.2g", stat.Mean(errors, nil), stat.Mean(g.lower, nil), stat.Mean(g.upper, nil))
	v.Detail = "the lower one is for every mechanism on the worst data"
	return v
}

// meanClaims are what the paper says about Table 5, or its numbers do.
func meanClaims(groups []group) []experiment.Verdict {
	var out []experiment.Verdict
	for _, d := range bySet(groups) {
		in, open := "Table 5, "+d.title()+": ", contradictions
		switch {
		case d[0].set == salarySet:
			open = needsDownload
		case d[0].correlated:
			out = append(out, about(in+"C is better than A", d.quantiles("C", heuristic), openGenerator, d.best("C", heuristic)...))
		default:
			open = openLaw
			out = append(out, about(in+"A is the best", d.quantiles(heuristic, proportional, "U"), open, d.best(heuristic, append([]string{"U"}, baselines...)...)...))
		}
		out = append(out, d.numbers("Table 5", open))
	}
	return out
}
