package training

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

// outcomesOf returns the outcomes of repeats with these accuracies.
func outcomesOf(accuracies ...float64) (out []outcome) {
	for _, a := range accuracies {
		out = append(out, outcome{accuracy: a})
	}
	return out
}

// The interval is Student's: for three values with deviation 0.01 the half width is
// 4.30265·0.01/√3.
func TestIntervals(t *testing.T) {
	c := &cell{outcomes: outcomesOf(0.49, 0.5, 0.51)}
	if a := c.accuracy(); math.Abs(a.Value-0.5) > 1e-12 || math.Abs(a.High-a.Value-4.302652729749464*0.01/math.Sqrt(3)) > 1e-9 || math.Abs(a.Value-a.Low-(a.High-a.Value)) > 1e-12 {
		t.Errorf("%+v", a)
	}
	c.outcomes = outcomesOf(0.7)
	if a := c.accuracy(); a != (experiment.Interval{Value: 0.7, Low: 0.7, High: 0.7}) {
		t.Errorf("one repeat: %+v", a)
	}
}

// A baseline is above ours only beyond both error bars, and targets count only what was
// paid at most.
func TestVerdicts(t *testing.T) {
	local, cheap, dear := 2., 0.6, 0.61
	edges, other := &task{features: "edges"}, &task{features: "grey"}
	own := &cell{task: edges, contender: contender{name: "coco", role: ours}, epsilon: 2, outcomes: outcomesOf(0.86, 0.87, 0.88), course: course{local: &local, central: &cheap, participations: 3}}
	plan := &cell{task: edges, contender: contender{name: "auto", role: planned}, epsilon: 0.61, outcomes: outcomesOf(0.91, 0.92, 0.93), course: course{local: &local, central: &dear, participations: 3}}
	for name, c := range map[string]struct {
		baseline []outcome
		holds    bool
	}{
		"below": {outcomesOf(0.1, 0.2, 0.3), true}, "above, within the bars": {outcomesOf(0.87, 0.88, 0.89), true},
		"above the mean": {outcomesOf(0.884, 0.885, 0.886), true},
		"above":          {outcomesOf(0.95, 0.951, 0.952), false},
	} {
		baseline := &cell{task: edges, contender: contender{name: "laplace", role: localBaseline}, epsilon: 2, outcomes: c.baseline}
		s := sweep{locals: []float64{1, 2}, features: []string{"edges", "grey"}}
		if v := s.comparisons([]*cell{own, plan, baseline}); len(v) != 1 || v[0].Holds != c.holds {
			t.Errorf("%s: %+v", name, v)
		}
		// It is compared with ours on the same features only.
		baseline.task = other
		if v := s.comparisons([]*cell{own, plan, baseline}); len(v) != 1 || !v[0].Holds {
			t.Errorf("%s, on other features: %+v", name, v)
		}
	}
	got := sweep{}.targets([]*cell{own, plan})
	if len(got) != 3 || !got[0].Holds || !got[1].Holds || !got[2].Holds {
		t.Errorf("targets %+v", got)
	}
	plan.outcomes = outcomesOf(0.89, 0.89, 0.89)
	if got = (sweep{}).targets([]*cell{own, plan}); !got[1].Holds || got[2].Holds {
		t.Errorf("targets %+v", got)
	}
	if got = (sweep{}).targets([]*cell{plan}); len(got) != 2 {
		t.Errorf("nothing within 0.6: %+v", got)
	}
}

// Runs that are all good have an axis on which they can be told apart.
func TestTheAxisShowsDifferences(t *testing.T) {
	for _, c := range []struct {
		accuracies []float64
		least      float64
	}{{[]float64{0.2, 0.99}, 0}, {[]float64{0.97, 0.93}, 0.9}, {[]float64{0.85, 0.99}, 0.8}, {[]float64{1}, 0.9}} {
		var cells []*cell
		for _, a := range c.accuracies {
			cells = append(cells, &cell{task: &task{}, outcomes: []outcome{{accuracy: a}}})
		}
		if got := limits(cells); got != [2]float64{c.least, 1} {
			t.Errorf("accuracies %v: axis %v, want from %g to 1", c.accuracies, got, c.least)
		}
	}
}
