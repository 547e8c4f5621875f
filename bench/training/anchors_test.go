package training

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Gaussian noise that is (3, 1e-5) for adding or removing one client is (7.4, 1e-6) for replacing
// one, and (0.41, 1e-5) is (1, 1e-6). With μ for adding or removing one, its δ at ε is
// Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ), and replacing one has 2μ.
func TestConventionsAreConverted(t *testing.T) {
	delta := func(mu, epsilon float64) float64 {
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return phi(mu/2-epsilon/mu) - math.Exp(epsilon)*phi(-mu/2-epsilon/mu)
	}
	for _, c := range []struct{ epsilon, from, to, want, within float64 }{
		{3, 1e-5, 1e-6, 7.4, 0.05}, {0.41, 1e-5, 1e-6, 1, 0.01}, {1.2, 1e-5, 1e-5, 2.6, 0.05},
	} {
		got, err := replaceOne(t.Context(), c.epsilon, c.from, c.to)
		if err != nil || math.Abs(got-c.want) > c.within {
			t.Errorf("(%g, %g) is ε = %g at %g for replacing one, want %g, %v", c.epsilon, c.from, got, c.to, c.want, err)
		}
		lo, hi := 0.01, 10.
		for range 60 {
			if mid := (lo + hi) / 2; delta(mid, c.epsilon) < c.from {
				lo = mid
			} else {
				hi = mid
			}
		}
		if exact := delta(2*lo, got); math.Abs(exact/c.to-1) > 1e-3 {
			t.Errorf("(%g, %g): δ is %g at the ε for replacing one, want %g", c.epsilon, c.from, exact, c.to)
		}
	}
}

// What others report for MNIST stands beside runs on MNIST only, in a panel of its own.
func TestAnchorsAreForMNISTOnly(t *testing.T) {
	data := digits(t, 10, 1000)
	s := sweep{anchors: true, delta: 1e-6}
	if got, err := s.anchorsFor(t.Context(), data); len(got) != 0 || err != nil {
		t.Errorf("generated digits have %d anchors, %v", len(got), err)
	}
	if isMNIST(&dataset.Set{Labels: data.Test.Labels[:5]}) {
		t.Error("five labels are taken for MNIST's")
	}
	for name, c := range map[string]struct {
		sweep sweep
		want  bool
	}{
		"as reported": {s, true}, "not asked for": {sweep{}, false}, "held out": {sweep{anchors: true, heldOut: true}, false},
		"several pictures": {sweep{anchors: true, clients: 5}, false},
	} {
		if got := c.sweep.comparable(data.Train); got != c.want {
			t.Errorf("%s: comparable: %t", name, got)
		}
	}
	for clients, want := range map[int]bool{0: true, 10: true, 5: false} {
		if got := (sweep{clients: clients}).single(data.Train); got != want {
			t.Errorf("%d clients share 10 pictures: %t, want %t", clients, got, want)
		}
	}
	local, central := 4., 0.5
	cells := []*cell{{task: &task{features: "edges"}, contender: contender{name: "auto"}, outcomes: outcomesOf(0.93), course: course{central: &central}}}
	s.features = []string{"edges"}
	if f := s.figure(cells, nil); len(f.Panels) != 1 || f.Columns != 1 {
		t.Errorf("%d panels without a local ε", len(f.Panels))
	}
	cells[0].course.local = &local
	if f := s.figure(cells, nil); len(f.Panels) != 2 {
		t.Errorf("%d panels without anchors", len(f.Panels))
	}
	f := s.figure(cells, anchors)
	beside := f.Panels[2]
	if len(f.Panels) != 3 || f.Panels[1].YRange[0] != 0.9 || beside.YRange[0] != 0.7 || len(f.Panels[1].Series) != 1 || len(beside.Series) != 4 {
		t.Fatalf("panels %+v", f.Panels)
	}
	stars := 0
	for _, series := range beside.Series[1:] {
		stars += len(series.X)
		if series.Style != figure.Stars {
			t.Errorf("%s has the style %d", series.Name, series.Style)
		}
	}
	if stars != len(anchors) {
		t.Errorf("%d stars, want %d", stars, len(anchors))
	}
}

// Each of the first thousand labels counts, and no other one.
func TestLabelsOfTheFirstThousandCount(t *testing.T) {
	labels := make([]int, 1001)
	sum := func() string { return labelsOf(&dataset.Set{Labels: labels}) }
	before := sum()
	if labels[1000]++; sum() != before {
		t.Error("the label of picture 1001 counts")
	}
	if labels[999]++; sum() == before {
		t.Error("the label of picture 1000 does not count")
	}
	if labels[999], labels[0] = 0, 1; sum() == before {
		t.Error("the first label does not count")
	}
}

// Only guarantees of Gaussian noise are converted: they get the δ of the sweep and a larger ε, and the others stay as they are.
func TestOnlyGaussianGuaranteesAreConverted(t *testing.T) {
	got, err := sweep{delta: 1e-6}.converted(t.Context())
	if err != nil || len(got) != len(anchors) {
		t.Fatalf("%d anchors, %v", len(got), err)
	}
	for i, a := range anchors {
		changed := got[i].epsilon > 2*a.epsilon && got[i].delta == 1e-6 && !got[i].addRemove && got[i].source == a.source && got[i].accuracy == a.accuracy
		if a.addRemove && !changed || !a.addRemove && got[i] != a {
			t.Errorf("%+v became %+v", a, got[i])
		}
	}
	for _, a := range anchors {
		shuffled := a.source == "Girgis et al. 2021, shuffled reports"
		if a.addRemove == shuffled {
			t.Errorf("%+v", a)
		}
	}
}
