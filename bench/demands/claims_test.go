package demands

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// alike has errors of 1 for all schemes, on four data sets, with an alternating relative
// deviation.
func alike(l law) group {
	g := newGroup(l, 4, 100)
	for m := range measures {
		for s := range g.list {
			for d := range g.errors[m][s] {
				g.errors[m][s][d] = math.Exp(0.1 * float64(d%2))
			}
		}
	}
	return g
}

func (g group) scale(m measure, name string, by float64) {
	for d := range g.of(m, name) {
		g.of(m, name)[d] *= by
	}
}

var someLaw = law{name: "law", set: "(10000, 5)", categories: 5, paper: correlatedRows[5]}

// Errors that are twice as large on every data set have a ratio of 2 with no width; of
// alternating deviations the interval is Student's, ±3.18·s/√4.
func TestRatio(t *testing.T) {
	g := alike(someLaw)
	g.scale(quantile, "A", 2)
	if r := g.ratio(quantile, "A", "U"); math.Abs(r.Value-2) > 1e-12 || r.High-r.Low > 1e-9 {
		t.Errorf("%+v", r)
	}
	for d := range 4 {
		g.of(square, "A")[d] = 1
	}
	half := 3.182446 * 0.1 / math.Sqrt(12)
	if r := g.ratio(square, "U", "A"); math.Abs(math.Log(r.High)-0.05-half) > 1e-6 || math.Abs(math.Log(r.Low)-0.05+half) > 1e-6 {
		t.Errorf("%+v, want exp(0.05 ± %g)", r, half)
	}
}

// A tie is neither a win nor a defeat.
func TestFindings(t *testing.T) {
	g := alike(someLaw)
	if f := g.best("A", "U"); f.holds {
		t.Errorf("a tie wins: %+v", f)
	}
	if f := g.unbeaten("A", "U", "LDP"); !f.holds {
		t.Errorf("a tie loses: %+v", f)
	}
	g.of(quantile, "U")[0], g.of(square, "U")[0] = 2, 2
	if f := g.best("A", "U"); f.holds {
		t.Errorf("one data set decides: %+v", f)
	}
	g = alike(someLaw)
	g.scale(quantile, "A", 0.5)
	if f := g.best("A", "U"); f.holds {
		t.Errorf("better in one measure only: %+v", f)
	}
	g.scale(square, "A", 0.25)
	if f := g.best("A", "U", "LDP"); !f.holds || f.ours != "95 % quantile: U 2 times A [2, 2]; mean square: U 4 times A [4, 4]" || strings.Count(f.detail, "2 times") != 2 || strings.Count(f.detail, "4 times") != 2 {
		t.Errorf("%+v", f)
	}
	g.scale(square, "LDP", 0.125)
	if f := g.unbeaten("A", "U", "LDP"); f.holds {
		t.Errorf("beaten in one measure: %+v", f)
	}
}

// Errors are on par with another scheme's errors when they are within a factor of them, from above and from below,
// in the quantile and in the root mean square of one scheme.
func TestPar(t *testing.T) {
	g := alike(someLaw)
	g.scale(quantile, "UNI", 3)
	g.scale(quantile, "SM", 1/3.)
	g.scale(square, "SM", 1/16.)
	if f := g.par("LDP", 2, "UNI", "SM"); f.holds || f.ours != "of UNI, 95 % quantile 0.333 times, root mean square 1 times" {
		t.Errorf("%+v", f)
	}
	if f := g.par("LDP", 3.01, "UNI"); !f.holds {
		t.Errorf("%+v", f)
	}
	if f := g.par("LDP", 4.01, "SM"); !f.holds {
		t.Errorf("%+v", f)
	}
	if f := g.par("LDP", 3.99, "SM"); f.holds {
		t.Errorf("%+v", f)
	}
	if f := g.par("LDP", 2, "UNI", "Prop", "SM"); !f.holds || f.ours != "of Prop, 95 % quantile 1 times, root mean square 1 times" || strings.Count(f.detail, "of ") != 3 {
		t.Errorf("%+v", f)
	}
}

// printedBy has the paper's numbers on every data set, if there are any.
func printedBy(t *testing.T, l law) group {
	t.Helper()
	g := alike(l)
	if l.paper == nil {
		return g
	}
	for m, measure := range measures {
		for s := range (row{}) {
			value, _, err := g.paper[measure].printed(s)
			if err != nil {
				t.Fatal(err)
			}
			copy(g.errors[m][s], []float64{value * 0.99, value * 1.01, value, value})
		}
	}
	return g
}

// Numbers of each reading are counted, and the reading with most of the paper's numbers is named.
func TestNumbersOfThePaper(t *testing.T) {
	first, second := someLaw, someLaw
	first.name, second.name = "law, first", "law, second"
	g, h := printedBy(t, first), printedBy(t, second)
	h.scale(quantile, "SM", 1.1)
	if v := (dataSet{g}).numbers("Table 4"); !v.Holds || v.Ours != "12 of 12 within ours" || !strings.Contains(v.Detail, "quantiles are 0.105, 0.083, 0.202, 1.000, 0.924, 0.253") {
		t.Errorf("%+v", v)
	}
	if v := (dataSet{h}).numbers("Table 4"); v.Holds || v.Ours != "11 of 12 within ours" || !strings.Contains(v.Detail, "not: 95 % quantile of SM 0.924") {
		t.Errorf("%+v", v)
	}
	if v := (dataSet{h, g}).numbers("Table 4"); v.Holds || v.Readings != (experiment.Share{Held: 1, Of: 2}) || v.Ours != `12 of 12 within ours, reading "first" at best` || !strings.Contains(v.Detail, "second: 11 of 12") {
		t.Errorf("%+v", v)
	}
}

// A claim is judged in each reading, and a stand-in for real data settles nothing.
func TestReadings(t *testing.T) {
	g, h := alike(law{name: "set, first"}), alike(law{name: "set, second"})
	for _, m := range measures {
		h.scale(m, "A", 0.5)
	}
	both := dataSet{g, h}
	v := both.claim("claim", "B.1", "A better", clearly, both.best("A", "U"))
	if v.Holds || v.Missing != "" || v.Readings != (experiment.Share{Held: 1, Of: 2}) || v.Ours != "in 1 of 2 readings: second" || !strings.Contains(v.Detail, "first: 95 % quantile: U 1 times A") {
		t.Errorf("%+v", v)
	}
	if v := both.claim("claim", "B.1", "A better", clearly, dataSet{h, h}.best("A", "U")); !v.Holds || v.Ours != "in 2 of 2 readings" {
		t.Errorf("%+v", v)
	}
	if v := both.claim("claim", "B.1", "A better", clearly, dataSet{h}.best("A", "U")); !v.Holds || v.Ours != "95 % quantile: U 2 times A [2, 2]; mean square: U 2 times A [2, 2]" {
		t.Errorf("%+v", v)
	}
	real := alike(law{name: cancerSet, set: cancerSet})
	if v := (dataSet{real}).claim("claim", "B.2", "A better", clearly, dataSet{h}.best("A", "U")); v.Missing != noDownload || !strings.HasPrefix(v.Ours, "on a stand-in ") {
		t.Errorf("%+v", v)
	}
	if f := h.good("U", 2.1, "A"); !f.holds || f.ours != "2 times the error of A at most" {
		t.Errorf("%+v", f)
	}
	if f := h.good("U", 1.9, "A"); f.holds {
		t.Errorf("%+v", f)
	}
	if found := both.poor("U", "A"); found[0].holds || !found[1].holds {
		t.Errorf("%+v", found)
	}
}

// Every claim names its table or figure, or is one of ours; what each data set is compared with
// is the paper's; and cells of a table are short.
func TestVerdictsAreComplete(t *testing.T) {
	var groups, means []group
	for _, l := range histogramLaws() {
		groups = append(groups, printedBy(t, l))
	}
	for _, l := range meanLaws() {
		means = append(means, printedBy(t, l))
	}
	all := append(histogramClaims(groups), meanClaims(means)...)
	for _, v := range all {
		if (v.Section != "") != (v.Quote != "") || v.Criterion == "" || v.Ours == "" || utf8.RuneCountInString(v.Ours) > 140 || len(strings.Fields(v.Quote)) > 10 {
			t.Errorf("%+v", v)
		}
	}
}

func TestPrinted(t *testing.T) {
	for text, want := range map[string][2]float64{"0.118": {0.118, 0.0005}, "3e-4": {3e-4, 5e-5}, "1.000": {1, 0.0005}, "0.0152": {0.0152, 0.00005}} {
		value, half, err := row{text}.printed(0)
		if err != nil || value != want[0] || math.Abs(half/want[1]-1) > 1e-12 {
			t.Errorf("%s: %g ± %g, %v", text, value, half, err)
		}
	}
	for _, rows := range []map[measure]row{salaryRows, correlatedRows[5], correlatedRows[20], cancerRows, uncorrelatedRows[5], uncorrelatedRows[20], salaryMeanRows, correlatedMeanRows, uncorrelatedMeanRows} {
		for _, m := range measures {
			for s := range (row{}) {
				if v, half, err := rows[m].printed(s); err != nil || v <= 0 || half <= 0 {
					t.Errorf("%v: %v", rows[m], err)
				}
			}
		}
	}
}
