package demands

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// noDownload is why claims about a real data set are not settled.
const noDownload = "the data need a download, and the paper prints no histogram of them"

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

// printedRow is what the paper prints for the quantile.
func (d dataSet) printedRow() string {
	printed := d[0].paper[quantile]
	return strings.Join(printed[:], ", ")
}

// isReal says whether the data are not there.
func (d dataSet) isReal() bool { return d[0].set == salarySet || d[0].set == cancerSet }

// clearly is what beats another scheme's error.
const clearly = "95 % interval of the ratio of errors above 1 in both measures, against each"

// claim is one of the paper's about the data set.
func (d dataSet) claim(claim, section, quote, criterion string, found []finding) experiment.Verdict {
	v := experiment.Verdict{Claim: claim, Section: section, Quote: quote, Criterion: criterion}
	if d.isReal() {
		v.Missing = noDownload
	}
	v = about(v, found...)
	if d.isReal() {
		v.Ours = "on a stand-in " + v.Ours
	}
	return v
}

// good is how many times a baseline's error, or mean square, a scheme with good or competitive performance has at most.
const good = 2

// numbers counts how many of the numbers that the paper prints for a data set our reading of its law gives: a
// claim of ours.
func (d dataSet) numbers(table string) experiment.Verdict {
	v := experiment.Verdict{
		Claim:     fmt.Sprintf("%s, %s: data of our law give all that the paper prints", table, d.title()),
		Criterion: "each printed number between the least and the largest of our data sets",
	}
	most := -1
	var details []string
	found := d.each(group.numbers)
	for _, f := range found {
		if f.inside > most {
			most, v.Ours = f.inside, f.ours
			if len(d) > 1 {
				v.Ours += fmt.Sprintf(", reading %q at best", f.reading)
			}
		}
		if f.holds {
			v.Readings.Held++
		}
		details = append(details, fmt.Sprintf("%s: %s, %s", f.reading, f.ours, f.detail))
	}
	v.Readings.Of = len(found)
	v.Holds = v.Readings.Held == v.Readings.Of
	v.Detail = "the paper's quantiles are " + d.printedRow() + "; " + strings.Join(details, "; ")
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
	in, section := "Table 4, "+d.title()+": ", "B.1"
	rest := append([]string{heuristic}, baselines...)
	var out []experiment.Verdict
	if d[0].set == salarySet {
		out = append(out,
			d.claim(in+"C is better than all others", section, "HPF-CP and HPF-CE outperforms the other algorithms", clearly, d.best("C", rest...)),
			d.claim(in+"A is competitive", section, "HPF-A also performs competitively",
				fmt.Sprintf("at most %d times the error of every baseline in both measures", good), d.good(heuristic, baselines...)))
	} else {
		out = append(out,
			d.claim(in+"A is better than C", section, "HPF-A outperforms HPF-CP and HPF-CE", clearly, d.best(heuristic, "C")),
			d.claim(in+"UNI is poor", section, "UNI performs poorly since it adds significantly more noise",
				fmt.Sprintf("more than %d times A's error in both measures", good), d.poor("UNI", heuristic)),
			d.claim("Figure 2, "+d.title()+": C is better than C-T", "M", "HPF-CP performs better than HPF-CT", clearly, d.best("C", "C-T")))
	}
	return append(out,
		d.parity(),
		d.claim(in+"A is superior to all others", "4", "HPF-A is a superior algorithm due to it good performance", clearly, d.best(heuristic, append([]string{"C"}, baselines...)...)),
		about(experiment.Verdict{Claim: d.title() + ": no baseline beats calibrated C, which is ours", Criterion: "none has the clearly smaller error in a measure"}, d.unbeaten("calibrated C", baselines...)...),
		d.numbers("Table 4"))
}

func (d dataSet) good(name string, others ...string) []finding {
	return d.each(func(g group) finding { return g.good(name, good, others...) })
}

// poor asks whether a scheme has more than a factor of another one's error in both measures.
func (d dataSet) poor(name, other string) []finding {
	return d.each(func(g group) finding { return g.good(other, 1./good, name) })
}

// parity is the paper's claim about local reports, for which any central baseline counts.
func (d dataSet) parity() experiment.Verdict {
	return d.claim("Table 4, "+d.title()+": LDP is on par with some of the central baselines", "B", "is on par with some of the baseline Central-DP techniques",
		fmt.Sprintf("its 95 %% quantile and root mean square are between 1/%d of and %d times PROP's, UNI's or SM's, of the same one", good, good),
		d.each(func(g group) finding { return g.par(localReports, good, centrals...) }))
}

func (d dataSet) uncorrelatedClaims() []experiment.Verdict {
	in, section := "Table 4, "+d.title()+": ", "B.2"
	var out []experiment.Verdict
	if d[0].set == cancerSet {
		out = append(out,
			d.claim(in+"A is better than the baselines", section, "perform better than the other baseline algorithms", clearly, d.best(heuristic, baselines...)),
			d.claim(in+"U is better than the baselines", section, "perform better than the other baseline algorithms", clearly, d.best("U", baselines...)))
	} else {
		out = append(out,
			d.claim(in+"A is superior to all others", section, "HPF-A performs superior to the other algorithms", clearly, d.best(heuristic, append([]string{"U"}, baselines...)...)),
			d.claim(in+"U is good, too", section, "HPF-UP and HPF-UE also enjoy good performance",
				fmt.Sprintf("at most %d times the error of every baseline in both measures", good), d.good("U", baselines...)),
			d.claim("Figure 2, "+d.title()+": U and U-T are the same", "M", "HPF-UP and HPF-UT perform exactly the same in Figure 2", "risks differ by less than 1e-9 relatively", d.each(group.sameRisk)))
	}
	return append(out,
		d.parity(),
		about(experiment.Verdict{Claim: d.title() + ": no baseline beats calibrated U, which is ours", Criterion: "none has the clearly smaller error in a measure"}, d.unbeaten("calibrated U", baselines...)...),
		d.numbers("Table 4"))
}

// withinBounds claims that A is below what was proved for it, on every data set.
func (g group) withinBounds() experiment.Verdict {
	v := experiment.Verdict{Claim: g.name + ": A is below the upper one of two bounds, whose constants are ours", Criterion: "on every data set", Holds: true}
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
		in := "Table 5, " + d.title() + ": "
		switch {
		case d[0].set == salarySet:
		case d[0].correlated:
			out = append(out, d.claim(in+"C is better than A", "Table 5", "HPM 0.008, HPM-A 0.009", clearly, d.best("C", heuristic)))
		default:
			out = append(out, d.claim(in+"A is superior to all others", "B.4", "HPM-A performs superior as comapred to the other algorithms", clearly, d.best(heuristic, append([]string{"U"}, baselines...)...)))
		}
		out = append(out, d.numbers("Table 5"))
	}
	return out
}
