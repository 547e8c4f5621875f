package demands

import (
	"math"
	"reflect"
	"testing"
)

// Figures 1 and 2 have the numbers of their sets: mean squares with correlation and quantiles
// without, and a point for each reading. The distribution function is the errors' distribution function.
func TestPanelsOfThePaper(t *testing.T) {
	var groups []group
	for _, l := range histogramLaws() {
		g := printedBy(t, l)
		for s := range g.curves {
			for i := range curvePoints {
				g.curves[s] = append(g.curves[s], float64(i+1)*float64(s+1))
			}
		}
		groups = append(groups, g)
	}
	panels := histogramPanels(groups)
	var titles []string
	for _, p := range panels {
		titles = append(titles, p.Title)
	}
	want := []string{
		"Figure 1: UC salaries", "Figure 1: (10000, 5), correlated", "Figure 1: (10000, 20), correlated",
		"Figure 1: Cancer types", "Figure 1: (10000, 5), uncorrelated", "Figure 1: (10000, 20), uncorrelated",
		"Figure 2: (10000, 5), correlated", "Figure 2: (10000, 20), correlated", "Figure 2: (10000, 5), uncorrelated", "Figure 2: (10000, 20), uncorrelated",
		"Appendix B: UC salaries, skewed bins", "Appendix B: Cancer types",
	}
	if !reflect.DeepEqual(titles, want) {
		t.Fatalf("%q", titles)
	}
	for at, first := range map[int]float64{0: 0.011, 1: 0.012, 3: 0.009, 5: 0.013} {
		theirs, own := panels[at].Series[0], panels[at].Series[1]
		readings := len(own.Y) / len(row{})
		if len(theirs.Y) != 6 || theirs.Y[0] != -math.Log(first) || readings != map[int]int{0: 2, 1: 6, 3: 1, 5: 1}[at] || math.Abs(own.Y[0]+math.Log(first)) > 0.1 {
			t.Errorf("%s: the paper's %v, ours %v", panels[at].Title, theirs.Y, own.Y)
		}
	}
	if p := panels[6]; !reflect.DeepEqual(p.Categories, []string{"C", "C-T", "A"}) || len(p.Series[0].Y) != 18 || !reflect.DeepEqual(p.Series[1].X, []float64{0, 2}) || !reflect.DeepEqual(p.Series[1].Y, []float64{0.105, 0.083}) {
		t.Errorf("%+v", p)
	}
	if curve := panels[11].Series[1]; curve.Name != "A" || curve.X[4] != 10 || curve.Y[4] != 0.25 || curve.Y[19] != 1 ||
		curve.YLow[4] != 0.25 || math.Abs(curve.YLow[7]-0.309) > 0.001 || math.Abs(curve.YHigh[7]-0.498) > 0.001 {
		t.Errorf("%+v", curve)
	}
}

// The quantiles that are kept are quantiles of the errors: the last is the largest, and the 19th of 20
// is the 95 % quantile.
func TestCurvesAreThoseOfTheErrors(t *testing.T) {
	l := law{name: "law", categories: 5, curve: true, draw: histogramLaws()[len(histogramLaws())-1].draw}
	numbers, err := l.measure(t.Context(), 1, 40, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := newGroup(l, 1, 40)
	if err := g.keep(0, numbers); err != nil {
		t.Fatal(err)
	}
	for s, curve := range g.curves {
		if len(curve) != curvePoints || curve[18] != g.errors[quantile][s][0] || curve[0] > curve[10] || curve[19] < curve[18] {
			t.Errorf("%s: %v, the quantile is %g", g.list[s].name, curve, g.errors[quantile][s][0])
		}
	}
	if err := g.keep(0, numbers[1:]); err == nil {
		t.Error("a number is missing, and there is no error")
	}
}
