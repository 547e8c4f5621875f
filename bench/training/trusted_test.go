package training

import (
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/central"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/trainer"
)

// A trusted server clips what it adds up.
func TestTheTrustedServerClips(t *testing.T) {
	c := &trusted{mechanism: &central.Gaussian{Clip: 2, Multiplier: 1e-6}}
	sum := make([]float64, 2)
	for _, grad := range [][]float64{{3, 4}, {0.5, 0}, {0, 0}} {
		c.add(sum, grad)
	}
	if math.Abs(sum[0]-(1.2+0.5)) > 1e-12 || math.Abs(sum[1]-1.6) > 1e-12 || c.Bytes() != 24 {
		t.Errorf("sum %v, %d bytes", sum, c.Bytes())
	}
}

// The released mean is the mean of the clipped gradients of all clients, in every round.
func TestTheTrustedServerReleasesTheMean(t *testing.T) {
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: 1, Width: 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := trainer.NewClients([][]float64{{3, 0}, {0, 0.5}}, []int{0, 2}, 2, experiment.Stream(3))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newTrusted(&central.Gaussian{Clip: 1, Multiplier: 1e-6}, model, clients, 2, 0, experiment.Stream(4))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// At the zero model the derivatives are (−2, 1, 1)/3 and (1, 1, −2)/3, and both
	// gradients are longer than 1 except where the example is short: √(0.6667·1.25) < 1.
	norm := math.Sqrt(6./9) * math.Sqrt(10)
	want := []float64{-2. / 3 * 3 / norm, 1. / 3 * 3 / norm, 1. / 3 * 3 / norm, 1. / 6, 1. / 6, -1. / 3, -2./3/norm + 1./3, 1./3/norm + 1./3, 1./3/norm - 2./3}
	for round := range 2 {
		e, err := c.Mean(t.Context(), round, make([]float64, model.Dim()))
		if err != nil || e.Reports != 2 || c.Bytes() != int64(4*9*2*(round+1)) {
			t.Fatalf("%+v, %d bytes, %v", e, c.Bytes(), err)
		}
		for j, v := range e.Mean().Value {
			if math.Abs(v-want[j]/2) > 1e-4 {
				t.Errorf("round %d: coordinate %d is %g, want %g", round, j, v, want[j]/2)
			}
		}
	}
}
