package training

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// The catalogue's scatter-log is among the variants, fitted on as many pictures: their vectors of a digit agree but
// for the pictures that were drawn, which have another seed.
func TestTheCatalogueIsAmongTheVariants(t *testing.T) {
	scatter, err := features.Scatter(28, 28)
	if err != nil {
		t.Fatal(err)
	}
	digits, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 10, TestSize: 1, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	inner, err := digits.In(t.Context(), scatter, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]variant{"scatter-log": variants()[4]} {
		opened, err := dataset.OpenFeatures(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		tail, err := v.fit(t.Context(), scatter)
		if err != nil {
			t.Fatal(err)
		}
		if tail.Dim() != opened.Dim() || !features.Centred(tail) {
			t.Errorf("%s: %v, and %v", name, opened, tail)
		}
		ours, err := inner.In(t.Context(), tail, nil)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := digits.In(t.Context(), opened, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Products of two digits' vectors do not depend on the signs or the order of components. The norms are 1/0.3.
		dot := func(x, y []float64) (sum float64) {
			for i := range x {
				sum += x[i] * y[i] * 0.09
			}
			return sum
		}
		for i := 1; i < 10; i++ {
			a, b := dot(ours.Train.Image(0), ours.Train.Image(i)), dot(theirs.Train.Image(0), theirs.Train.Image(i))
			if a-b > 0.15 || b-a > 0.15 {
				t.Errorf("%s: pictures 0 and %d have the product %g, in the catalogue %g", name, i, a, b)
			}
		}
	}
}

// A variant trains with and without noise, and every run is counted.
func TestAVariantTrains(t *testing.T) {
	scatter, err := features.Scatter(28, 28)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 300, TestSize: 100, Seed: 5})
	if err == nil {
		data, err = data.In(t.Context(), scatter, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{rounds: 4, delta: 1e-6, centrals: []float64{8}, repeats: 2, server: server{momentum: -1, averaging: -1}}
	if s.contenders, err = parseContenders("auto,none"); err != nil {
		t.Fatal(err)
	}
	v := variant{60, 0, features.Fitting{Channels: features.ScatterChannels, Components: 20, Bias: 0.3}}
	cells, err := s.withVariant(t.Context(), experiment.Env{Seed: 1, Jobs: 2}, data, scatter, v)
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for _, c := range cells {
		if len(c.outcomes) != 2 || c.demands.Dim != 210 || !c.demands.Centred {
			t.Errorf("%s: %+v", c.name, c.demands)
		}
	}
	if a := cells[1].accuracy().mean; a < 0.8 {
		t.Errorf("accuracy %g without noise", a)
	}
}
