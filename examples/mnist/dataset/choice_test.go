package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// Vectors along fewer components are cut from longer ones: they are what the features with fewer components compute.
func TestPublicPicturesAlongFewerComponents(t *testing.T) {
	data, err := Generate(t.Context(), Options{TrainSize: 120, TestSize: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := features.Identity(side * side)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := features.Fit(t.Context(), pixels, features.Public{Recipe: "120 digits", Examples: data.Train.All()}, features.Fitting{Components: 9, Whitening: .25, Bias: bias}, nil)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := wide.Keep(4)
	if err != nil {
		t.Fatal(err)
	}
	got, err := (&Public{X: vectors(t, wide, data.Train), Labels: data.Train.Labels, Examples: examples(t, wide, data.Train)}).keep(4)
	if err != nil {
		t.Fatal(err)
	}
	want := vectors(t, narrow, data.Train)
	for i, x := range got.X {
		for j, v := range x {
			if math.Abs(v-want[i][j]) > 1e-12 {
				t.Fatalf("picture %d: %v, want %v", i, x, want[i])
			}
		}
	}
	if got.Examples.Dim() != 5*10 || got.Sample == nil {
		t.Errorf("examples of %d parameters, want %d", got.Examples.Dim(), 5*10)
	}
}

func vectors(t *testing.T, f features.Features, s *Set) [][]float64 {
	t.Helper()
	all, err := features.All(t.Context(), f, s.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(all, f.Dim()))
}

func examples(t *testing.T, f features.Features, s *Set) *plan.Examples {
	t.Helper()
	out, err := plan.NewExamples(vectors(t, f, s), s.Labels, s.Classes)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// With much noise few components are best, and with little noise many.
func TestLessNoiseHasMoreComponents(t *testing.T) {
	if !*long {
		t.Skip("fits the scattering transform and rehearses runs: go test -long")
	}
	chosen := func(trust plan.Trust, clients int, budget float64) int {
		q := plan.Request{Mechanism: "auto", Trust: trust, Clients: clients, Budget: budget, Delta: 1e-6}
		name, f, choice, err := ChooseAndOpen(t.Context(), Formulas, q, []string{Textures}, 10, nil)
		if err != nil || len(choice.Considered) != 6 || !strings.HasPrefix(name, scatterLog) {
			t.Fatalf("%s, %+v, %v", name, choice, err)
		}
		return f.Dim()
	}
	few, many := chosen(plan.Nobody, 6000, 2), chosen(plan.TwoServers, 6000, 4)
	if few >= many || many != mostComponents {
		t.Errorf("%d components for 6000 clients who trust nobody, and %d with two servers", few, many)
	}
}
