package features_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// byFirst knows two classes: whether the first value is positive.
type byFirst struct{ features.Features }

func (byFirst) Classes() int { return 2 }

func (byFirst) Class(vector []float64) int {
	if vector[0] > 0 {
		return 1
	}
	return 0
}

func TestZeroShotCountsWhatTheBackboneKnows(t *testing.T) {
	identity, err := features.Identity(2)
	if err != nil {
		t.Fatal(err)
	}
	backbone := byFirst{identity}
	// The pipeline's mean would move every example to class 0.
	pipeline, err := features.NewPipeline(backbone, features.Parts{Mean: []float64{9, 0}})
	if err != nil {
		t.Fatal(err)
	}
	examples, labels := [][]float64{{1, 0}, {-1, 0}, {2, 5}, {3, 1}}, []int{1, 0, 1, 0}
	for _, f := range []features.Features{backbone, pipeline} {
		got, known, err := features.ZeroShot(t.Context(), f, examples, labels, nil)
		if got != 0.75 || !known || err != nil {
			t.Errorf("%v: ZeroShot = %v, %v, %v; want 3 of 4 right", f, got, known, err)
		}
	}
	if got, known, err := features.ZeroShot(t.Context(), identity, examples, labels, nil); got != 0 || known || err != nil {
		t.Errorf("ZeroShot of features without classes = %v, %v, %v", got, known, err)
	}
}

func TestZeroShotRefusesLabelsThatDoNotFit(t *testing.T) {
	identity, err := features.Identity(1)
	if err != nil {
		t.Fatal(err)
	}
	f := byFirst{identity}
	for _, labels := range [][]int{nil, {1, 0}} {
		var bad *fl.ParamError
		if _, _, err := features.ZeroShot(t.Context(), f, [][]float64{{1}}, labels, nil); !errors.As(err, &bad) || bad.Param != "labels" {
			t.Errorf("%d labels for one example: error %v", len(labels), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := features.ZeroShot(ctx, f, [][]float64{{1}}, []int{1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: error %v", err)
	}
}
