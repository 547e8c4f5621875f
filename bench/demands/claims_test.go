package demands

import (
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// alike has errors of 1 for all schemes, on four data sets, with an alternating relative
// deviation.
func alike(l law) group {
	g := newGroup(l, 4)
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
func TestVerdicts(t *testing.T) {
	g := alike(someLaw)
	if v := g.best("", "A", "U"); v.Holds {
		t.Errorf("a tie wins: %+v", v)
	}
	if v := g.unbeaten("", "A", "U", "LDP"); !v.Holds {
		t.Errorf("a tie loses: %+v", v)
	}
	g.of(quantile, "U")[0], g.of(square, "U")[0] = 2, 2
	if v := g.best("", "A", "U"); v.Holds {
		t.Errorf("one data set decides: %+v", v)
	}
	g = alike(someLaw)
	g.scale(quantile, "A", 0.5)
	if v := g.best("", "A", "U"); v.Holds {
		t.Errorf("better in one measure only: %+v", v)
	}
	g.scale(square, "A", 0.5)
	if v := g.best("A is the best", "A", "U", "LDP"); !v.Holds || v.Claim != "law: A is the best" || strings.Count(v.Detail, "2 times") != 4 {
		t.Errorf("%+v", v)
	}
	g.scale(square, "LDP", 0.25)
	if v := g.unbeaten("", "A", "U", "LDP"); v.Holds {
		t.Errorf("beaten in one measure: %+v", v)
	}
}

func TestNumbersOfThePaper(t *testing.T) {
	g := alike(someLaw)
	for m, measure := range measures {
		for s := range (row{}) {
			value, _, err := g.paper[measure].printed(s)
			if err != nil {
				t.Fatal(err)
			}
			copy(g.errors[m][s], []float64{value * 0.99, value * 1.01, value, value})
		}
	}
	if v := g.numbers(); !v.Holds || v.Detail != "12 of 12 numbers" {
		t.Errorf("%+v", v)
	}
	g.scale(quantile, "SM", 1.1)
	if v := g.numbers(); v.Holds || !strings.Contains(v.Detail, "11 of 12 numbers; not: 95 % quantile of SM 0.924") {
		t.Errorf("%+v", v)
	}
}

func TestPooled(t *testing.T) {
	g, h := alike(law{name: "set, first"}), alike(law{name: "set, second"})
	h.scale(quantile, "A", 0.5)
	h.scale(square, "A", 0.5)
	v := pooled("claim", []experiment.Verdict{g.best("", "A", "U"), h.best("", "A", "U")})
	if v.Holds || v.Detail != "in 1 of 2 readings: second; not in first" {
		t.Errorf("%+v", v)
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
