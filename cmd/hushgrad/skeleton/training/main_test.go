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

// leastAccuracy belongs to the generated data: CHANGE IT with data.go. Of 5000 examples a model that
// guesses gets about half right. The runs of TestTrain reach .87 and .86 on average, with a standard
// deviation of .03 at most from run to run.
const leastAccuracy = 0.65

// A run learns, whomever its clients trust, and says what it cost.
func TestTrain(t *testing.T) {
	for _, c := range []struct {
		trust   plan.Trust
		clients int
		budget  float64
		says    string
	}{
		{plan.Nobody, usualClients, 6, "local privacy      ε = 6,"},
		{plan.Shuffler, 3000, 1, "Nothing here shuffles"},
	} {
		var out strings.Builder
		accuracy, err := train(t.Context(), plan.Request{Clients: c.clients, Trust: c.trust, Budget: c.budget}, &out)
		if err != nil {
			t.Fatal(err)
		}
		if accuracy < leastAccuracy {
			t.Errorf("%s: accuracy %v:\n%s", c.trust, accuracy, out.String())
		}
		if !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: no %q in:\n%s", c.trust, c.says, out.String())
		}
	}
}

// A run without flags has the budget that --help names, and no client sends two reports.
func TestTheUsualRunIsPlanned(t *testing.T) {
	run, err := decide(t.Context(), plan.Request{Clients: usualClients, Trust: plan.Nobody})
	if err != nil {
		t.Fatal(err)
	}
	if run.Budget != 4 || run.Cohort < 1 || run.Affordable < 1 || run.Cohort*run.Affordable > usualClients {
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

// A row that was read wrongly is named, and trains nothing. The range of an input is the one of data.go.
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

// A step down the gradient of an example makes a yes more probable, and a no less.
func TestGradientPointsUphill(t *testing.T) {
	for _, yes := range []bool{true, false} {
		e := example{publicExamples()[0].x, yes}
		params, grad := firstModel(), make([]float64, dim)
		gradient(grad, params, e)
		before := predict(params, e.x)
		for i := range params {
			params[i] -= 0.01 * grad[i]
		}
		if after := predict(params, e.x); after == before || (after > before) != yes {
			t.Errorf("an example that is a yes: %v. A step changed the probability of yes from %v to %v", yes, before, after)
		}
	}
}
