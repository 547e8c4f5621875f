package training

import (
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// A variant trains with and without noise, and every run is counted.
func TestAVariantTrains(t *testing.T) {
	if testing.Short() {
		t.Skip("a scattering transform of 250 pictures")
	}
	scatter, err := features.Scatter(28, 28)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 200, TestSize: 50, Seed: 5})
	if err == nil {
		data, err = data.In(t.Context(), scatter, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{rounds: 4, delta: 1e-6, locals: []float64{8}, repeats: 1, server: server{momentum: -1, averaging: -1}}
	if s.contenders, err = parseContenders("coco,none"); err != nil {
		t.Fatal(err)
	}
	v := variant{60, 0, features.Fitting{Channels: features.ScatterChannels, Components: 20, Bias: 0.3}}
	cells, err := s.withVariant(t.Context(), experiment.Env{Seed: 1, Jobs: 2}, data, scatter, v)
	if err != nil || len(cells) != 2 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	for _, c := range cells {
		if len(c.outcomes) != 1 || c.demands.Dim != 210 || !c.demands.Centred {
			t.Errorf("%s: %+v", c.name, c.demands)
		}
	}
	if a := cells[1].accuracy().Value; a < 0.8 {
		t.Errorf("accuracy %g without noise", a)
	}
}
