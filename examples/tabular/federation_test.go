package main

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/hushgrad/hushgrad/examples/mnist/parties"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// Two real servers add up what the clients clip: their mean is within six standard errors of it, at two models whose means are further apart. A coordinate of a right sum is not once in 5·10^8,
// and there are 16. docs/tables.md has the
// command with more clients.
func TestTwoServersSumClippedGradients(t *testing.T) {
	if !*long {
		t.Skip("builds hushgrad and runs three processes")
	}
	binary, err := parties.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const clients = 60
	s := someSchema(t, generatedColumns, generatedTarget)
	task, err := newTask(s)
	if err != nil {
		t.Fatal(err)
	}
	r := newScaling(s).of(generate(rand.New(rand.NewPCG(1, 2)), clients, 10, s).train)
	gradients, err := task.gradients(r, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	o := options{schema: s, request: &plan.Request{Mechanism: "auto", Trust: plan.TwoServers, Clients: clients, Rounds: 2, Budget: 20, Delta: 1e-6}}
	run, err := o.plan(t.Context(), task, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newFederation(t.Context(), run, gradients, 0, binary, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	noise := run.Opened.(sum).StandardError(clients, clients)
	var before []float64
	for i, params := range [][]float64{make([]float64, 8), {0, 0, 0, 0, 0, 0, 0, 9}} {
		want := make([]float64, 8)
		if err := gradients.Each(t.Context(), params, 0, clients, func(_ int, g []float64) error {
			floats.AddScaled(want, min(1, run.Template.Scale/floats.Norm(g, 2))/clients, g)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		e, err := f.Mean(t.Context(), i, params)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Mean().Value; e.Reports != clients || !(floats.Distance(got, want, math.Inf(1)) < 6*noise) || before != nil && floats.Distance(want, before, math.Inf(1)) < 12*noise {
			t.Errorf("round %d: the mean of %d reports is %.3f, want %.3f and standard errors of %.3f", i, e.Reports, got, want, noise)
		}
		before = want
	}
	if f.Bytes() < 2*clients*8 {
		t.Errorf("%d bytes", f.Bytes())
	}
	var out bytes.Buffer
	args := []string{"--trust", "two-servers", "--budget", "16", "--clients", "40", "--rounds", "24", "--hushgrad", binary}
	if err := tabular(t.Context(), args, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"mechanism gaussian-shares: 24 rounds of 40 clients", "the first 12 of 24 rounds learn", "central privacy    ε = ", "one machine runs both"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}

// A sum has one noise for all coordinates, which decides about rounds for columns: with enough clients they are spent, with few the run says why not.
func TestColumnsAreLearntByTwoServersWhereClientsAreEnough(t *testing.T) {
	s := someSchema(t, generatedColumns, generatedTarget)
	task, err := newTask(s)
	if err != nil {
		t.Fatal(err)
	}
	for clients, want := range map[int]int{6000: 12, 60: 0} {
		o := options{schema: s, request: &plan.Request{Mechanism: "auto", Trust: plan.TwoServers, Clients: clients, Budget: 1, Delta: 1e-6, Force: true}}
		run, err := o.plan(t.Context(), task, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := newScaling(s).prepare(run); err != nil || p.rounds != want || run.Rounds != 30 || math.Abs(p.magnitude*math.Sqrt(3)-run.Template.Scale) > 1e-12 || p.text == "" {
			t.Errorf("%d clients: %d of %d rounds for columns, magnitude %g of %g: %s", clients, p.rounds, run.Rounds, p.magnitude, run.Template.Scale, p.text)
		}
	}
}

// The bar of two servers counts each round once: all silent rounds before the first of them, and each other round by itself. After the first round it
// says how long the run takes.
func TestTheBarCountsEachRoundOnce(t *testing.T) {
	for silent, want := range map[int][]int{0: {20, 20, 20, 20}, 3: {60, 0, 0, 20}} {
		f := &federation{run: &plan.Run{Cohort: 10, Affordable: 4}, silent: silent}
		for i, steps := range want {
			if got := f.steps(i); got != steps {
				t.Errorf("%d silent rounds: round %d announces %d steps, want %d", silent, i+1, got, steps)
			}
		}
		if text := f.describe(0); text != "round 1 of 4, encode and send" {
			t.Errorf("the first round is described as %q", text)
		}
		f.began = f.began.Add(-20 * time.Second)
		if text := f.describe(2); text != "round 3 of 4 (20s left in all), encode and send" {
			t.Errorf("the third round is described as %q", text)
		}
	}
}
