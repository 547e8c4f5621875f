package main

import (
	"io"
	"strings"
	"testing"
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

// The gradient is that of the loss: it is compared with a difference quotient.
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
