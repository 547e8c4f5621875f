package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// The first round finds the mean of the features of its clients, and the second one's gradients are at features around it. Without privacy nothing else is in them.
func TestTheFirstRoundIsAboutTheFeatures(t *testing.T) {
	f := running(t, "none", "--rounds", "10")
	f.run.Centring = plan.NewCentring(f.model.Dim()/10-1, 30, 1, 0)
	data, err := glyphs()
	if err != nil {
		t.Fatal(err)
	}
	vectors, order := data.Train.All(), f.seed.Order().Perm(data.Train.Len()) // the order in which running deals them
	all, from := [][]float64{}, []float64{}
	for _, x := range vectors {
		x = slices.Clone(x)
		all, from = append(all, x), append(from, x...)
	}
	want := make([]float64, len(all[0]))
	for _, i := range order[:f.run.Cohort] {
		floats.AddScaled(want, 1/float64(f.run.Cohort), all[i])
	}
	defer func() { // other tests have the same pictures
		for i, x := range vectors {
			copy(x, from[i*len(x):])
		}
	}()
	mean, err := f.centre(t.Context(), make([]float64, f.model.Dim()), vectors)
	if err != nil {
		t.Fatal(err)
	}
	// The estimate has a standard error: what the clients' pictures differ by. So the mean is a little nearer to 0.
	if left := floats.Norm(mean, 2) / floats.Norm(want, 2); left < 0.98 || left > 1 || math.Abs(floats.Dot(mean, want)-left*floats.Dot(want, want)) > 1e-9 {
		t.Errorf("the mean is %v, want %v", mean, want)
	}
	plan.Around(mean, all...)
	for i, x := range vectors {
		if !floats.EqualApprox(x, all[i], 1e-9) {
			t.Fatalf("picture %d is not around the mean", i)
		}
	}
	// The next cohort, not the first one again, has this gradient at a model of zeros: (p − y)·x, shifted so that its L1 norm is the smallest.
	e, err := f.Mean(t.Context(), 1, make([]float64, f.model.Dim()))
	if err != nil {
		t.Fatal(err)
	}
	grad := make([]float64, f.model.Dim())
	for _, i := range order[f.run.Cohort : 2*f.run.Cohort] {
		for j, v := range append(slices.Clone(all[i]), 1) {
			grad[10*j+data.Train.Labels[i]] -= v / float64(f.run.Cohort)
		}
	}
	if !floats.EqualApprox(e.Mean().Value, grad, 1e-7) { // reports are in 32 bits
		t.Errorf("the second round's mean is off by %g", floats.Distance(e.Mean().Value, grad, math.Inf(1)))
	}
}

// A run says that its first round is about the features, counts that round, and leaves the mean with the model.
func TestARunTellsTheMeanOfTheFeatures(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	out := t.TempDir()
	var screen strings.Builder
	o, model, run, data := small(t, "privunit", "--trust", "nobody", "--cohort", "75", "--rounds", "12", "--features", "edges-centred", "--out", out)
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &screen, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"features: the first round learns the features' mean", "\n    2 ", "\n   12 "} {
		if !strings.Contains(screen.String(), want) {
			t.Errorf("%q is missing:\n%s", want, &screen)
		}
	}
	if strings.Contains(screen.String(), "\n    1 ") {
		t.Errorf("the first round has an accuracy:\n%s", &screen)
	}
	written, err := os.ReadFile(filepath.Join(out, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Centring       *plan.Centring `json:"centring"`
		Mean           []float64      `json:"feature_mean"`
		Trained        int            `json:"rounds_trained"`
		Participations int            `json:"participations"`
	}
	if err := json.Unmarshal(written, &s); err != nil {
		t.Fatal(err)
	}
	if s.Centring == nil || s.Centring.Features != 196 || len(s.Mean) != 196 || s.Trained != 12 || s.Participations != 1 {
		t.Errorf("summary.json has %+v", s)
	}
}
