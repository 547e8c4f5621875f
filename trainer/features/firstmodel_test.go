package features_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/trainer/features"
)

// linear knows three classes by linear functions of two values.
type linear struct{ byFirst }

func (linear) Classes() int { return 3 }

func (linear) Head() (weights, bias []float64) {
	return []float64{1, 2, 3, -4, 5, 6}, []float64{0.5, -1, 2}
}

// The first model gives an example the logits that the backbone's own functions give it, through a mean,
// components and a norm that all examples have anyway.
func TestFirstModelKnowsWhatTheBackboneKnows(t *testing.T) {
	identity, err := features.Identity(2)
	if err != nil {
		t.Fatal(err)
	}
	backbone := linear{byFirst{identity}}
	examples := [][]float64{{0.1 + 0.6, 0.2 + 0.8}, {0.1 - 1, 0.2}} // length 1 around the mean
	turned := [][]float64{{0.6, 0.8}, {-0.8, 0.6}}
	for name, parts := range map[string]features.Parts{
		"mean and components": {Mean: []float64{0.1, 0.2}, Components: turned},
		"one norm":            {Mean: []float64{0.1, 0.2}, Components: turned, Bias: 0.3},
		"components":          {Components: turned},
	} {
		f, err := features.NewPipeline(backbone, parts)
		if err != nil {
			t.Fatal(err)
		}
		params, known, err := features.FirstModel(t.Context(), f, examples, nil)
		if !known || err != nil || len(params) != 9 {
			t.Fatalf("%s: %v, %v, %v", name, params, known, err)
		}
		weights, bias := backbone.Head()
		for _, x := range examples {
			v := make([]float64, 2)
			f.Apply(v, x)
			for k := range 3 {
				got := params[k]*v[0] + params[3+k]*v[1] + params[6+k]
				if want := weights[k]*x[0] + weights[3+k]*x[1] + bias[k]; math.Abs(got-want) > 1e-9 {
					t.Errorf("%s: %v has the logit %g for class %d, want %g", name, x, got, k, want)
				}
			}
		}
	}
	if params, known, err := features.FirstModel(t.Context(), backbone, nil, nil); !known || err != nil || len(params) != 9 || params[8] != 2 {
		t.Errorf("without a pipeline: %v, %v, %v", params, known, err)
	}
}

func TestFirstModelsThatAreNotKnown(t *testing.T) {
	identity, err := features.Identity(2)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]features.Features{"no classes": identity, "no functions": byFirst{identity}} {
		if _, known, err := features.FirstModel(t.Context(), f, nil, nil); known || err != nil {
			t.Errorf("%s: %v, %v", name, known, err)
		}
	}
	for name, parts := range map[string]features.Parts{
		"scales": {Scale: []float64{1, 2}, Components: [][]float64{{1, 0}, {0, 1}}}, "logarithms": {Logarithm: []float64{1, 2}, Components: [][]float64{{1, 0}, {0, 1}}},
		"no components": {Mean: []float64{1, 2}},
	} {
		f, err := features.NewPipeline(linear{byFirst{identity}}, parts)
		if err != nil {
			t.Fatal(err)
		}
		if _, known, err := features.FirstModel(t.Context(), f, nil, nil); known || err != nil {
			t.Errorf("%s: %v, %v", name, known, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := features.NewPipeline(linear{byFirst{identity}}, features.Parts{Components: [][]float64{{1, 0}}, Bias: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := features.FirstModel(ended, f, [][]float64{{1, 0}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}
