package main

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// A run learns, and says what it cost. Of 5000 examples a model that guesses gets about half
// right. 0.7 is 28 standard deviations above that.
func TestTrain(t *testing.T) {
	var out strings.Builder
	accuracy, err := train(t.Context(), 20_000, 1, &out)
	if err != nil {
		t.Fatal(err)
	}
	if accuracy < 0.7 {
		t.Errorf("accuracy %v:\n%s", accuracy, out.String())
	}
	if !strings.Contains(out.String(), "ε = ") {
		t.Errorf("no ε in:\n%s", out.String())
	}
}

// The least that can be asked for is not more than the default.
func TestABudgetOfNothingIsRefused(t *testing.T) {
	for _, budget := range []float64{0, -1} {
		if _, err := train(t.Context(), 1000, budget, io.Discard); err == nil || !strings.Contains(err.Error(), "budget") {
			t.Errorf("a budget of %v: error %v", budget, err)
		}
	}
	if _, err := train(t.Context(), -1, 1, io.Discard); err == nil {
		t.Error("fewer clients than none are taken")
	}
}

// A row that was read wrongly is named, and trains nothing.
func TestWrongExamplesAreRefused(t *testing.T) {
	right := publicExamples()[0].x
	for _, x := range [][]float64{nil, right[1:], append(slices.Clone(right[1:]), 41), append(slices.Clone(right[1:]), math.NaN())} {
		if err := check("clientExamples", []example{{right, true}, {x, false}}); err == nil || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("inputs %v: error %v", x, err)
		}
	}
	if err := errors.Join(check("clientExamples", publicExamples()), check("testExamples", testExamples(fl.NewRand()))); err != nil {
		t.Error(err)
	}
	if err := check("testExamples", nil); err == nil {
		t.Error("a run without examples to test on is taken")
	}
}

// The gradient is the gradient of the loss: it is compared with a difference quotient.
func TestGradientPointsUphill(t *testing.T) {
	e := example{[]float64{0.5, -0.5, 0.25, 0, 1, -1, 0.1, 0.2}, true}
	params, grad := firstModel(), make([]float64, dim)
	gradient(grad, params, e)
	before := predict(params, e.x)
	for i := range params {
		params[i] -= 0.01 * grad[i]
	}
	if after := predict(params, e.x); after <= before {
		t.Errorf("a step down the gradient changed the probability of what is true from %v to %v", before, after)
	}
}
