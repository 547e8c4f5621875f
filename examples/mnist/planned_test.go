package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
)

// planFor parses flags and plans a run for generated digits.
func planFor(t *testing.T, args ...string) (config, string) {
	t.Helper()
	c, err := parseFlags(append([]string{"-clients", "900", "-rounds", "4", "-seed", "7"}, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 10, TestSize: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if data, err = c.transformed(data); err != nil {
		t.Fatal(err)
	}
	model, err := c.modelOn(data.Train)
	if err != nil {
		t.Fatal(err)
	}
	c, s, err := c.planned(t.Context(), model)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.explanation(&out, s); err != nil {
		t.Fatal(err)
	}
	return c, out.String()
}

// What the flags leave open is planned, what they say stays.
func TestPlannedRuns(t *testing.T) {
	c, why := planFor(t)
	if !slices.Contains([]string{"coco", "collision", "signsketch"}, c.mechanism) || c.cohort != 900 || c.epsilon <= 0 || c.epsilon > 20 ||
		c.sparsity < 2 || c.clip <= 0 || c.lr <= 0 || c.momentum != 0.5 || c.averaging != 0.8 || c.budget != 1 {
		t.Errorf("planned %+v", c)
	}
	for _, want := range []string{"local ε of each", "  4  ", "  225 ", "δ = 1e-06", "nothing was looked up"} {
		if !strings.Contains(strings.ToLower(why), strings.ToLower(want)) {
			t.Errorf("the explanation lacks %q:\n%s", want, why)
		}
	}

	c, _ = planFor(t, "-mechanism=signsketch", "-epsilon=2", "-cohort=450", "-sparsity=9", "-clip=3", "-lr=0.7", "-momentum=0", "-averaging=0")
	if c.mechanism != "signsketch" || c.epsilon != 2 || c.cohort != 450 || c.sparsity != 9 || c.clip < 2.999 || c.clip > 3.001 ||
		c.lr != 0.7 || c.momentum != 0 || c.averaging != 0 || c.budget != 0 {
		t.Errorf("the flags say otherwise: %+v", c)
	}

	// With an ε of its own a run is not replanned for the budget: that ends it.
	if c, _ = planFor(t, "-epsilon=3", "-budget=0.5"); c.epsilon != 3 || c.budget != 0.5 {
		t.Errorf("ε and budget: %+v", c)
	}
	if c, why = planFor(t, "-mechanism=none"); c.cohort != 225 || c.lr <= 0 || !strings.HasPrefix(why, "plan: learning rate") {
		t.Errorf("no privacy: %+v, %s", c, why)
	}
	if c, _ = planFor(t, "-mechanism=sumdp", "-cohort=300"); c.epsilon != 1 || c.cohort != 300 || c.momentum != 0.5 || c.averaging != 0.8 {
		t.Errorf("sumdp: %+v", c)
	}
	if c, _ = planFor(t, "-tiers=1:0.5,4:0.5"); c.cohort != 225 || c.epsilon != 0 || c.sparsity < 2 {
		t.Errorf("tiers: %+v", c)
	}
	// Networks with hidden units take smaller steps.
	if c, _ = planFor(t, "-mechanism=none", "-model=mlp"); c.lr > networkRate {
		t.Errorf("mlp: %+v", c)
	}
}

// The features are fixed functions of one picture, the same for both sets.
func TestFeatures(t *testing.T) {
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 3, TestSize: 2, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		config
		channels, rows int
	}{
		{config{model: "softmax"}, 4, 7}, {config{model: "cnn", pool: 2}, 0, 14}, {config{model: "softmax", features: pixels, pool: 4}, 0, 7},
		{config{model: "cnn", features: edges}, 4, 7},
	} {
		got, err := c.transformed(data)
		if err != nil || got.Train.Channels != c.channels || got.Test.Rows != c.rows || got.Train.Len() != 3 || got.Test.Len() != 2 {
			t.Fatalf("%+v: %+v, %v", c, got, err)
		}
	}
	if _, err := (config{model: "softmax", features: pixels, pool: 3}).transformed(data); err == nil {
		t.Error("28 pixels in blocks of 3: want an error")
	}
	if _, err := (config{model: "cnn", features: edges}).modelOn(&dataset.Set{Channels: 4, Rows: 7, Cols: 7, Classes: 10}); err == nil {
		t.Error("a cnn on 7×7: want an error")
	}
	m, err := (config{model: "softmax"}).modelOn(&dataset.Set{Rows: 2, Cols: 3, Classes: 4})
	if err != nil || m.Dim() != 7*4 || len(m.Layout()) != 2 {
		t.Errorf("%v, %v", m, err)
	}
}
