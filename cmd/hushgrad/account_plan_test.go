package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
	"github.com/hushgrad/hushgrad/trainer/features"
)

// demo is the request that examples/mnist makes of the same flags: with the norms that it
// measures on generated digits.
func demo(t *testing.T, args ...string) plan.Request {
	t.Helper()
	f := flag.NewFlagSet("mnist", flag.ContinueOnError)
	q, check := plan.Flags(f)
	if err := errors.Join(command.Parse(f, args), check()); err != nil {
		t.Fatal(err)
	}
	task, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	return task.Of(*q)
}

// measured is the demo's task, with norms of its own.
var measured = sync.OnceValues(func() (task plan.Task, err error) {
	ctx := context.Background()
	digits, err := dataset.Generate(ctx, dataset.Options{TrainSize: 256, TestSize: 1, Seed: 1})
	if err != nil {
		return task, err
	}
	opened, err := dataset.OpenFeatures(ctx, plan.DemoFeatures, nil)
	if err == nil {
		digits, err = digits.In(ctx, opened, nil)
	}
	if err != nil {
		return task, err
	}
	d := digits.Train
	model, err := trainer.NewModel("softmax", trainer.Input{Channels: 1, Height: d.Rows, Width: d.Cols}, d.Classes)
	if err != nil {
		return task, err
	}
	task.Dim, task.Centred = model.Dim(), features.Centred(opened)
	task.L1, task.L2, err = trainer.GradientNorms(model, model.Init(fl.NewRand()), d.All(), d.Labels)
	return task, err
})

// The demo and account plan answer the same question alike. Their norms differ by the
// rounding of a default: so may the learning rate, and τ.
func TestAccountPlanIsTheDemosPlan(t *testing.T) {
	for _, args := range [][]string{
		nil, {"-cohort", "2000", "-clip", "5", "-lr", "3"}, {"-cohort", "777", "-clients", "10000", "-budget", "0.5", "-mechanism", "coco"},
		{"-epsilon", "2", "-rounds", "3", "-mechanism", "signsketch", "-delta", "1e-7", "-sparsity", "20"}, {"-mechanism", "sumdp"}, {"-mechanism", "none"},
		{"-max-epsilon", "1.5", "-budget", "0.1", "-cohort", "4000"},
	} {
		want, err := demo(t, args...).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		promise, err := want.Promise(t.Context(), want.Affordable)
		if err != nil {
			t.Fatal(err)
		}
		var got planned
		ask(t, &got, append([]string{"plan", "-o", "json"}, args...)...)
		alike := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
		if got.Mechanism != want.Mechanism || got.Dim != want.Dim || got.Clients != want.Clients || got.Cohort != want.Cohort || got.Rounds != want.Rounds ||
			got.Sparsity != want.Sparsity || got.Budget != want.Budget || got.Momentum != want.Momentum || got.Averaging != want.Averaging ||
			math.Abs(got.LearningRate/want.LearningRate-1) > 1e-5 || got.Participations != promise.Participations || got.Delta != promise.Delta ||
			!alike(got.Local, promise.Local) || !alike(got.LocalTotal, promise.LocalTotal) || !alike(got.Central, promise.Central) {
			t.Errorf("%q: account plan says %+v %+v, the demo %+v %+v", args, got.Run, got.Promise, want, promise)
		}
	}
}

// The text is the demo's: what was compared, and what is promised.
func TestAccountPlanInWords(t *testing.T) {
	text := ask(t, nil, "plan", "-clients", "3000", "-rounds", "4")
	for _, want := range []string{"4 rounds of 3000 clients, each client up to 4 times", "local ε  central ε", "learning rate", "local privacy      ε = ", "central privacy    ε = ", "expected accuracy  of the demo: nothing was measured"} {
		if !strings.Contains(text, want) {
			t.Errorf("account plan lacks %q:\n%s", want, text)
		}
	}
}

// The demo's own question has an accuracy, with its error and the command that measured it.
func TestAccountPlanExpectsAnAccuracy(t *testing.T) {
	var p planned
	if ask(t, &p, "plan", "-o", "json"); p.Expected == nil || p.Expected.Accuracy < 0.9 {
		t.Fatalf("%+v", p.Expected)
	}
	text := strings.Join(strings.Fields(ask(t, nil, "plan")), " ")
	if want := "expected accuracy of the demo: " + p.Expected.String(); !strings.Contains(text, want) || !strings.Contains(want, "measured by `go run ./bench accuracy") {
		t.Errorf("account plan lacks %q:\n%s", want, text)
	}
}

// A question names features, or has norms of its own. auto says what it compared.
func TestAccountPlanAsksAboutATask(t *testing.T) {
	var p planned
	ask(t, &p, "plan", "-o", "json", "-rounds", "1", "-clients", "2000", "-dim", "1234", "-l1", "5", "-l2", "1", "-centred=false")
	if p.Dim != 1234 || p.Expected != nil {
		t.Errorf("%+v", p.Run)
	}
	var zero planned // 0 is what -help says: the task of -features
	if ask(t, &zero, "plan", "-o", "json", "-rounds", "1", "-clients", "2000", "-features", "edges", "-dim", "0", "-l1", "0"); zero.Dim != 1970 {
		t.Errorf("-dim 0: %+v", zero.Run)
	}
	text := ask(t, nil, "plan", "-rounds", "1", "-clients", "2000", "-features", "auto", "-public", "digits")
	if !strings.Contains(text, "loss") || !strings.Contains(text, "glyphs") || strings.Index(text, "loss") > strings.Index(text, "plan: ") {
		t.Errorf("the comparison is not the first thing:\n%s", text)
	}
	for _, args := range [][]string{{"-features", "dreams"}, {"-public", "digits"}, {"-features", "auto", "-public", "clouds"}} {
		var bad *fl.ParamError
		err := try(t, append([]string{"account", "plan"}, args...))
		if !errors.As(err, &bad) {
			t.Errorf("%q: error %v, want a ParamError", args, err)
		}
	}
}

// No plan is printed that has a larger error than was asked for. The number of clients that reach the error is.
func TestPlanChoosesOrSaysHowManyClientsItTakes(t *testing.T) {
	question := func(clients float64, more ...string) []string {
		return append([]string{"account", "plan", "-dim", "1000", "-l1", "4", "-l2", "1.5", "-sparsity", "8", "-rounds", "1", "-clients", jsonNumber(clients)}, more...)
	}
	var p planned
	ask(t, &p, question(2000, "-o", "json")[1:]...)
	if !p.Feasible || len(p.Considered) != 3 || p.Considered[0].Mechanism != p.Mechanism || *p.Central > 1 || p.Cohort != 2000 || p.Considered[0].NoiseOfRun > p.Considered[1].NoiseOfRun {
		t.Errorf("feasible plan: %+v", p)
	}
	want := p.Considered[0].Error / 3
	refused := func(args ...string) (answer infeasible, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := call(t.Context(), append(args, "-o", "json"), &out, &errs); code != 1 || json.Unmarshal(out.Bytes(), &answer) != nil || answer.Feasible || strings.Contains(out.String(), "mechanism") {
			t.Errorf("%q: exit code %d, printed %s", args, code, out.String())
		}
		return answer, errs.String()
	}
	third := question(2000, "-error", jsonNumber(want))
	q, says := refused(third...)
	if q.ClientsNeeded == nil || *q.ClientsNeeded < 3000 || *q.ClientsNeeded > 20000 || !strings.Contains(says, fmt.Sprintf("-clients %d, within 1 %%, would reach it", *q.ClientsNeeded)) {
		t.Fatalf("a third of the error: %+v, %s", q, says)
	}
	var out, errs bytes.Buffer
	if code := call(t.Context(), third, &out, &errs); code != 1 || out.Len() > 0 || errs.String() != says {
		t.Errorf("a third of the error: exit code %d, printed %q and %q", code, out.String(), errs.String())
	}
	ask(t, &p, question(float64(*q.ClientsNeeded), "-error", jsonNumber(want), "-o", "json")[1:]...)
	if !p.Feasible || p.Considered[0].Error > want {
		t.Errorf("with the %d clients asked for: %+v", *q.ClientsNeeded, p)
	}
	limited, _ := refused(question(2000, "-error", jsonNumber(want), "-max-epsilon", "0.5")...)
	if limited.ClientsNeeded == nil || *limited.ClientsNeeded < 2**q.ClientsNeeded {
		t.Errorf("with at most ε = 0.5 in a report: %+v, and %d clients without", limited, *q.ClientsNeeded)
	}
	if !*long { // planning for up to 10⁹ clients takes seconds
		return
	}
	if hopeless, says := refused(question(2000, "-error", "1e-9")...); hopeless.ClientsNeeded != nil || !strings.Contains(says, "more than 1000000000 clients would reach it") {
		t.Errorf("an impossible error: %+v, %s", hopeless, says)
	}
}

// The sum of gradients of a round gets all of the budget that a client's rounds leave to it, and not more.
func TestAccountPlanSpendsTheBudgetOfSums(t *testing.T) {
	for _, mechanism := range []string{"sumdp", "sumdp-shares"} {
		for _, rounds := range []string{"10", "30"} { // each client takes part once, and three times
			var p planned
			if ask(t, &p, "plan", "-o", "json", "-mechanism", mechanism, "-rounds", rounds, "-budget", "0.5"); *p.Central > 0.5 || *p.Central < 0.499 {
				t.Errorf("%s, %s rounds: central ε %g of a budget of 0.5", mechanism, rounds, *p.Central)
			}
		}
	}
}

// The error of a gradient follows from its norms: another model's are no default.
func TestAccountPlanAsksForTheNormsOfAGradient(t *testing.T) {
	for _, args := range [][]string{{"-dim", "100000"}, {"-dim", "100000", "-l1", "5"}, {"-dim", "100000", "-l2", "5"}, {"-l1", "5"}, {"-l2", "1"}} {
		var p *fl.ParamError
		if err := try(t, append([]string{"account", "plan"}, args...)); !errors.As(err, &p) || !strings.Contains(err.Error(), "-l1 and -l2") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestAccountPlanRefuses(t *testing.T) {
	for param, args := range map[string][]string{
		"clients": {"-clients", "1"}, "-error": {"-error", "-1"}, "cohort": {"-cohort", "1"}, "-epsilon": {"-mechanism", "none", "-epsilon", "1"},
		"max epsilon": {"-epsilon", "1", "-max-epsilon", "2"}, "clip": {"-clip", "1e300"}, "l1": {"-l1", "1e300", "-l2", "1"}, "l2": {"-l1", "1", "-l2", "-1"}, "dim": {"-dim", "-1"}, "-error and -plot": {"-error", "1", "-epsilon", "1"},
	} {
		err := try(t, append([]string{"account", "plan"}, args...))
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%v: error %v, want a ParamError for %s", args, err, param)
		}
	}
}
