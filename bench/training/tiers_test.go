package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/trainer"
)

func menuOf(t *testing.T) []tier {
	t.Helper()
	menu, err := parseTiers(commonTiers)
	if err != nil {
		t.Fatal(err)
	}
	return menu
}

func TestEveryCohortHasTheSharesOfTheTiers(t *testing.T) {
	for n, want := range map[int][3]int{1000: {500, 300, 200}, 300: {150, 90, 60}} {
		var counts [3]int
		for i := range n {
			counts[tierOf(menuOf(t), i, n)]++
		}
		if counts != want {
			t.Errorf("%d clients: %v, want %v", n, counts, want)
		}
	}
}

// Each strategy trains on generated digits, and the same way every time.
func TestStrategiesTrain(t *testing.T) {
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 1200, TestSize: 200, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	task, err := newTask(t.Context(), experiment.Env{}, data, dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	strategies := strategiesFor(menuOf(t), task.model.Dim(), 400)
	var first []float64
	for range 2 {
		var accuracies []float64
		for k, s := range strategies {
			out, err := task.run(t.Context(), s.recipe(task.model, 400, 3), experiment.Stream(3, uint64(k)))
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
	if _, err := task.run(ctx, strategies[0].recipe(task.model, 400, 3), experiment.Stream(3)); !errors.Is(err, context.Canceled) {
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
		var cells []*cell
		for i, accuracies := range c.others {
			cells = append(cells, &cell{contender: contender{name: fmt.Sprint("strategy ", i)}, task: &task{}, outcomes: outcomesOf(accuracies...)})
		}
		r := tiersReport(cells, "note")
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

// In a mixed round the reports of each tier are as many as chose it, and the weights favour
// the tiers with the larger ε. With the last strategy only the last tier reports.
func TestMixedClientsTrain(t *testing.T) {
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 600, TestSize: 10, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	task, err := newTask(t.Context(), experiment.Env{}, data, dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := trainer.NewClients(task.train.All(), task.train.Labels, 600, experiment.Stream(1))
	if err != nil {
		t.Fatal(err)
	}
	strategies := strategiesFor(menuOf(t), task.model.Dim(), 300)
	for k, reports := range []int64{300, 300, 60} {
		means, err := strategies[k].recipe(task.model, 300, 2).open(clients, experiment.Stream(2))
		if err != nil {
			t.Fatal(err)
		}
		defer means.Close()
		for i := range 2 {
			e, err := means.Mean(t.Context(), i, make([]float64, task.model.Dim()))
			if err != nil || e.Reports != reports {
				t.Fatalf("%s: %d reports, want %d, %v", strategies[k].name, e.Reports, reports, err)
			}
			if k > 0 {
				continue
			}
			if len(e.Tiers) != 3 || e.Tiers[0].Reports != 150 || e.Tiers[2].Reports != 60 || e.Tiers[2].Weight < e.Tiers[0].Weight ||
				math.Abs(e.Tiers[0].Weight+e.Tiers[1].Weight+e.Tiers[2].Weight-1) > 1e-9 || e.Tiers[1].Guarantee.Epsilon != 2 {
				t.Errorf("round %d: %+v", i, e.Tiers)
			}
		}
	}
}

// Beside each strategy stand runs without privacy and of a trusted server at the central ε of its own
// clients: amplified where all reports look alike, and the last tier's ε where reports show their tier.
func TestStrategiesHaveReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("four runs, one after the other")
	}
	task, err := newTask(t.Context(), experiment.Env{}, digits(t, 4000, 100), dataset.Grey)
	if err != nil {
		t.Fatal(err)
	}
	cells, beside, err := tierCells(t.Context(), task, menuOf(t), 2000, 2)
	if err != nil || len(cells) != 3 || len(beside) != 4 {
		t.Fatalf("%d strategies, %d beside them, %v", len(cells), len(beside), err)
	}
	for i, want := range []struct{ local, most float64 }{{8, 8}, {0.5, 0.06}, {8, 7.9}} {
		c := cells[i]
		central := *c.course.central
		if *c.course.local != want.local || !(central > 0 && central <= want.most) || c.plain != beside[0] || c.trusted != beside[i+1] || !strings.HasSuffix(c.trusted.name, fmt.Sprint(central)) {
			t.Errorf("%s: local ε %g, central %g, %+v", c.name, *c.course.local, central, c.trusted)
		}
	}
	if mixed, last := *cells[0].course.central, *cells[2].course.central; mixed < 7.99 || last < 1 {
		t.Errorf("a mixed client has a central ε of %g, one of the last tier alone %g", mixed, last)
	}
	var accuracies []float64
	for _, c := range beside {
		out, err := task.run(t.Context(), c.course.recipe, experiment.Stream(3))
		if err != nil {
			t.Fatal(err)
		}
		accuracies = append(accuracies, out.accuracy)
	}
	if !(accuracies[0] > 0.2) { // two rounds, seeded
		t.Errorf("without privacy and with trusted servers: %g", accuracies)
	}
}
