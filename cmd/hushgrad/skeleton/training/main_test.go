package main

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/plan"
)

// A run learns, whomever its clients trust, and says what it cost. Of 5000 examples a model that
// guesses gets about half right. These runs reach .87 and .86 on average, with a standard deviation
// of .03 at most from run to run. Both are planned with coco.
func TestTrain(t *testing.T) {
	for _, c := range []struct {
		trust   plan.Trust
		clients int
		budget  float64
		says    string
	}{
		{plan.Nobody, 20_000, 6, "local privacy      ε = 6,"},
		{plan.Shuffler, 3000, 1, "Nothing here shuffles"},
	} {
		var out strings.Builder
		accuracy, err := train(t.Context(), plan.Request{Clients: c.clients, Trust: c.trust, Budget: c.budget}, &out)
		if err != nil {
			t.Fatal(err)
		}
		if accuracy < 0.65 {
			t.Errorf("%s: accuracy %v:\n%s", c.trust, accuracy, out.String())
		}
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: no %q in:\n%s", c.trust, c.says, out.String())
		}
	}
}

// The project as it is written is planned with the budget that --help names, and with the mechanism that is best there.
func TestTheUsualRunIsPlanned(t *testing.T) {
	run, err := decide(t.Context(), plan.Request{Clients: 20_000, Trust: plan.Nobody})
	if err != nil {
		t.Fatal(err)
	}
	if run.Mechanism != "privunit" || run.Budget != 4 || run.Cohort != 1250 || run.Affordable != 16 {
		t.Errorf("planned %+v", run)
	}
}

// A run that cannot be is refused before anything is read.
func TestWrongRunsAreRefused(t *testing.T) {
	for want, c := range map[string]plan.Request{
		"--clients": {Clients: -1, Trust: plan.Nobody}, "--trust": {Clients: 1000, Trust: plan.TwoServers},
		"budget": {Clients: 1000, Trust: plan.Nobody, Budget: -1}, "publicExamples in data.go": {Clients: 50, Trust: plan.Nobody, Budget: 0.1},
	} {
		if _, err := train(t.Context(), c, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", c, err, want)
		}
	}
}

// A run that is too noisy is refused with the flag that trains it all the same, and the flag does.
func TestANoisyRunIsForced(t *testing.T) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	asked := bind(f)
	for _, args := range [][]string{{"--clients", "50", "--budget", "0.1"}, {"--force"}} {
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		if _, err := train(t.Context(), *asked, io.Discard); (err == nil) != asked.Force || !asked.Force && !strings.Contains(err.Error(), "--force") {
			t.Errorf("%v: error %v", args, err)
		}
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
