package training

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

func TestDemandsHaveTheirShares(t *testing.T) {
	var counts [3]int
	for i := range 1000 {
		counts[demandOf(i, 1000)]++
	}
	if counts != [3]int{500, 300, 200} {
		t.Errorf("%v", counts)
	}
}

// Each strategy trains on generated digits, and the same way every time.
func TestStrategiesTrain(t *testing.T) {
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 1200, TestSize: 200, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	task, err := newTask(data, pooled)
	if err != nil {
		t.Fatal(err)
	}
	var first []float64
	for range 2 {
		var accuracies []float64
		for k, s := range strategies {
			out, err := task.run(t.Context(), s.recipe(task.model.Dim(), 400, 3), experiment.Stream(3, uint64(k)))
			a := out.accuracy
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			if a < 0.05 || a > 1 {
				t.Errorf("%s: accuracy %g", s.name, a)
			}
			accuracies = append(accuracies, a)
		}
		if first == nil {
			first = accuracies
		} else if !reflect.DeepEqual(first, accuracies) {
			t.Errorf("accuracies %v, then %v", first, accuracies)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := task.run(ctx, strategies[0].recipe(task.model.Dim(), 400, 3), experiment.Stream(3)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// The report compares the first strategy with the others, beyond two standard errors.
func TestTheReportWeighsItsNoise(t *testing.T) {
	for name, c := range map[string]struct {
		others [][]float64
		holds  bool
	}{
		"clear": {[][]float64{{0.80, 0.81, 0.82}, {0.5, 0.51, 0.52}, {0.6, 0.61, 0.62}}, true},
		"noisy": {[][]float64{{0.80, 0.60, 0.90}, {0.7, 0.75, 0.72}, {0.7, 0.75, 0.72}}, false},
	} {
		r := tiersReport(c.others, "note", 10, 2, 3)
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Verdicts {
			if v.Holds != c.holds {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}
