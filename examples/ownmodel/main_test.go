package main

import (
	"flag"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

var long = flag.Bool("long", false, "train with 1000 clients")

// The flat gradient is the gradient of the loss, by differences.
func TestTheGradientIsThatOfTheLoss(t *testing.T) {
	n, err := newNetwork()
	if err != nil {
		t.Fatal(err)
	}
	rng := fl.NewRand()
	params, grad := initial(rng), make([]float64, dim)
	for _, e := range generate(rng, 5) {
		if err := n.gradient(grad, params, e); err != nil {
			t.Fatal(err)
		}
		loss := func(i int, step float64) float64 {
			moved := append([]float64(nil), params...)
			moved[i] += step
			chance, err := n.run(moved, e)
			if err != nil {
				t.Fatal(err)
			}
			return -e.y*math.Log(chance) - (1-e.y)*math.Log(1-chance)
		}
		for i, g := range grad {
			const h = 1e-5
			if want := (loss(i, h) - loss(i, -h)) / (2 * h); math.Abs(g-want) > 1e-6 {
				t.Errorf("derivative %d is %v, want %v", i, g, want)
			}
		}
	}
}

func TestARunIsPlannedAndTrained(t *testing.T) {
	if !*long {
		t.Skip("trains with 1000 clients: half a minute with the race detector")
	}
	var out strings.Builder
	accuracy, err := train(t.Context(), 1000, &out)
	if err != nil || accuracy < 0 || accuracy > 1 {
		t.Errorf("%v, %v", accuracy, err)
	}
	for _, want := range []string{"round 20", "central privacy", "local privacy", "No shuffler runs here"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}
