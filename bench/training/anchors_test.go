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
	data.Test = &dataset.Set{Labels: data.Test.Labels[:5]}
	if isMNIST(data.Test) {
		t.Error("five labels are taken for MNIST's")
	}
	for clients, want := range map[int]bool{0: true, 10: true, 5: false} {
		if got := (sweep{clients: clients}).single(data.Train); got != want {
			t.Errorf("%d clients share 10 pictures: %t, want %t", clients, got, want)
		}
	}
	central := 0.5
	cells := []*cell{{task: &task{features: "edges"}, contender: contender{name: "auto"}, outcomes: outcomesOf(0.93), course: course{central: &central}}}
	s.features = []string{"edges"}
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

// Only guarantees of Gaussian noise are converted.
func TestOnlyGaussianGuaranteesAreConverted(t *testing.T) {
	for _, a := range anchors {
		shuffled := a.source == "Girgis et al. 2021, shuffled reports"
		if a.addRemove == shuffled {
			t.Errorf("%+v", a)
		}
	}
}
