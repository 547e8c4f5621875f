package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/hdsum"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// mechanisms are the values of --mechanism.
var mechanisms = []string{"auto", "coco", "collision", "signsketch", "sumdp", "none"}

// small is a run of a few hundred clients on generated digits, each with one, unless args say more. gaussian-site has three sites.
func small(t *testing.T, mechanism string, args ...string) (options, *trainer.Model, *plan.Run, *dataset.Data) {
	t.Helper()
	line := []string{"--mechanism", mechanism, "--clients", "900", "--cohort", "300", "--rounds", "3", "--seed", "7", "--features", dataset.DemoFeatures}
	if mechanism == hdsum.SiteName { // which the trust says; every picture is a record
		line = append([]string{"--trust", "own-site", "--sites", "3"}, line[6:]...)
	} else if slices.Contains(args, "--sites") {
		line = append([]string{"--trust", "two-servers"}, line[6:]...)
	} else if mechanism != "none" && !plan.IsSum(mechanism) {
		line = append(line, "--epsilon", "5", "--trust", "shuffler")
	}
	if !slices.Contains(args, "--force") { // some of these runs have few clients
		args = append([]string{"--force"}, args...)
	}
	line = append(line, args...)
	data, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parse(line, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.ReplaceAll(strings.Join(line, " "), "--out "+parsed.out+" ", "") // it is no part of the plan
	p, known := plans[key]
	if !known {
		p.options = parsed
	}
	if p.options.request.Records == 0 { // sites share all
		data = firstOf(data, min(p.options.request.Clients, data.Train.Len()))
	}
	if !known {
		if p.model, p.run, err = p.options.plan(t.Context(), data.Train.Len()); err != nil {
			t.Fatal(err)
		}
		plans[key] = p
	}
	o, request := p.options, *p.options.request
	o.request, o.out = &request, parsed.out // a test may change the request
	return o, p.model, p.run, data
}

// plans are the plans that small has made, by their flags: many tests have the same one.
var plans = map[string]struct {
	options options
	model   *trainer.Model
	run     *plan.Run
}{}

// generated are the digits of all tests.
var generated = sync.OnceValues(func() (*dataset.Data, error) {
	return dataset.Generate(context.Background(), dataset.Options{TrainSize: 900, TestSize: 200, Seed: 7})
})

// firstOf is the same data with the first n images of its clients.
func firstOf(data *dataset.Data, n int) *dataset.Data {
	few, train := *data, *data.Train
	train.Images, train.Labels = train.Images[:n*train.Dim()], train.Labels[:n]
	few.Train = &train
	return &few
}

// glyphs are the generated digits as the features see them that the flags leave open.
var glyphs = sync.OnceValues(func() (*dataset.Data, error) {
	data, err := generated()
	if err != nil {
		return nil, err
	}
	opened, err := dataset.OpenFeatures(context.Background(), dataset.DemoFeatures, nil)
	if err != nil {
		return nil, err
	}
	return data.In(context.Background(), opened, nil)
})

// Features with a public centre are planned with the steps that they bear.
func TestCentredFeaturesHaveStepsOfTheirOwn(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	for name, want := range map[string]string{"edges": "noise 1.8, rate 80", "edges-centred": "noise 1, rate 640"} {
		_, _, run, _ := small(t, "coco", "--features", name, "--force")
		var text strings.Builder
		if err := run.Explain(&text); err != nil || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("%s: the explanation lacks %q, %v:\n%s", name, want, err, text.String())
		}
	}
}

// A run stops before the round that its budget does not allow, and does not begin
// when one round is too much.
func TestTheBudgetEndsTheRun(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	o, _, run, data := small(t, "coco", "--rounds", "9", "--budget", "9", "--seed", "0") // three times each
	two, err := run.Spending.Promise(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	o.request.Budget = *two.Central * 1.0001
	model, run, err := o.plan(t.Context(), dataset.Pictures)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "\n    6  ") || strings.Contains(text, "\n    7  ") ||
		!strings.Contains(text, "\nstopped            the budget of central ε") || !strings.Contains(text, "composed over the 2 rounds") {
		t.Errorf("a budget for two participations:\n%s", text)
	}
	o.request.Budget = 1e-6
	var p *fl.ParamError
	if _, _, err := o.plan(t.Context(), dataset.Pictures); !errors.As(err, &p) || p.Param != "budget" {
		t.Errorf("a budget below one round: %v, want a ParamError for budget", err)
	}
}

// The first lines say which data is used, and a download that fails is an error.
func TestTheFirstScreenNamesTheData(t *testing.T) {
	o, model, run, data := small(t, "coco")
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nfeatures           glyphs: glyph network", "\nzero-shot accuracy 0.99", "(chance 0.10; zero-shot 0.99"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if zero, trained := strings.Index(out.String(), "zero-shot"), strings.Index(out.String(), "round  accuracy"); zero > trained {
		t.Errorf("the zero-shot accuracy comes after the first round:\n%s", out.String())
	}
	first, _, _ := strings.Cut(out.String(), "\nmodel ")
	if strings.Join(strings.Fields(first), " ") != "data digits drawn from the Go fonts with seed 7: accuracy on them is not comparable with MNIST" {
		t.Errorf("the first lines are %q", first)
	}
	var stderr bytes.Buffer
	code := command.Run(t.Context(), "mnist", mnist, []string{"--data", filepath.Join(t.TempDir(), "none"), "--cohort", "100", "--epsilon", "1"}, command.Streams{Out: io.Discard, Err: &stderr})
	if lines := strings.Split(strings.TrimSpace(stderr.String()), "\n"); code == 0 || !strings.Contains(lines[len(lines)-1], "--data: got ") {
		t.Errorf("a directory that is not there: exit code %d, %s", code, stderr.String())
	}
}

func TestFlags(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "--mechanism") {
		t.Errorf("--help: %v, %q", err, help.String())
	}
	for _, args := range [][]string{
		{"stray"}, {"--magic"}, {"--rounds=x"}, {"--mechanism", "none", "--epsilon", "1"}, {"--mechanism", "none", "--explain"}, {"--mechanism", "sumdp", "--sparsity", "5"},
		{"--public", "digits,textures"}, {"--features", "auto", "--public", "clouds"}, {"--features", "auto", "--model", "mlp"},
	} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) {
			t.Errorf("%v: error %v, want a ParamError", args, err)
		}
	}
	for arg, param := range map[string]string{
		"--mechanism=magic": "--mechanism", "--model=gpt": "--model", "--features=magic": "--features", "--epsilon=NaN": "--epsilon", "--delta=1": "--delta", "--cohort=1": "--cohort",
		"--rounds=-1": "--rounds", "--clients=1": "--clients", "--budget=-1": "--budget", "--sparsity=-1": "--sparsity", "--clip=-1": "--clip", "--clip=1e300": "--clip", "--lr=-1": "--lr", "--trust=me": "--trust",
	} {
		_, err := parse([]string{arg}, io.Discard) // before pictures are drawn
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v, want a ParamError for %s", arg, err, param)
		}
	}
	for _, model := range []string{"cnn", "mlp"} {
		o, err := parse([]string{"--model", model, "--features", dataset.Edges, "--mechanism", "none"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var p *fl.ParamError
		if _, _, err := o.plan(t.Context(), dataset.Pictures); (model == "cnn") != (errors.As(err, &p) && p.Param == "--features") {
			t.Errorf("%s on edges: %v", model, err)
		}
	}
	o, model, run, data := small(t, "none", "--clients", "1000", "--features", dataset.Edges)
	var p *fl.ParamError
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: io.Discard, Err: io.Discard}); !errors.As(err, &p) || p.Param != "clients" {
		t.Errorf("1000 clients for 900 images: %v, want a ParamError for clients", err)
	}
}

// Features that know no classes have no zero-shot accuracy, and nothing is printed or written of it.
func TestFormulasHaveNoZeroShotAccuracy(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	dir := t.TempDir()
	o, model, run, data := small(t, "coco", "--features", "edges", "--out", dir, "--force")
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || !strings.Contains(string(raw), `"zero_shot_accuracy": null`) || strings.Contains(out.String(), "zero-shot") || !strings.Contains(out.String(), "expected accuracy") {
		t.Errorf("%v\n%s\n%s", err, raw, out.String())
	}
}

// auto takes what was best on the public pictures that are named, and the round says what was taken.
func TestFeaturesAreChosen(t *testing.T) {
	if !*long {
		t.Skip("rehearsals of runs take seconds")
	}
	o, model, run, data := small(t, "coco", "--features", "auto", "--public", "digits", "--explain")
	if !strings.HasPrefix(o.features, "glyphs") || !strings.HasPrefix(run.Template.Features, o.features+":") {
		t.Fatalf("features %s, in the round %s", o.features, run.Template.Features)
	}
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil || !strings.Contains(out.String(), "No client's picture is") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// What the flags say stays, and networks with hidden units take small steps.
func TestTheFlagsArePlannedWith(t *testing.T) {
	o, model, run, _ := small(t, "signsketch", "--cohort", "450", "--sparsity", "9", "--clip", "3", "--lr", "0.7", "--delta", "1e-4")
	if run.Mechanism != "signsketch" || run.Template.Epsilon != 5 || run.Cohort != 450 || run.Sparsity != 9 || run.LearningRate != 0.7 || run.Budget != 0 ||
		run.Template.Scale < 2.999/9 || run.Template.Scale > 3.001/9 || run.Dim != model.Dim() || o.seed != 7 {
		t.Errorf("planned %+v", run)
	}
	if p, err := run.Promise(t.Context(), run.Affordable); err != nil || p.Delta != 1e-4 {
		t.Errorf("promises %+v, %v", p, err)
	}
	if _, mlp, run, _ := small(t, "none", "--model", "mlp"); run.LearningRate > 2 || len(mlp.Layout()) != 4 {
		t.Errorf("mlp: %+v", run)
	}
	if _, cnn, run, _ := small(t, "none", "--model", "cnn", "--lr", "5", "--features", dataset.Grey); run.LearningRate != 5 || len(cnn.Layout()) != 6 {
		t.Errorf("cnn: %+v", run)
	}
}

// The demo trusts nobody. It begins as a guess, on features that know no digits.
func TestTheDemoTrustsNobody(t *testing.T) {
	if !*long {
		t.Skip("rehearsals of runs take seconds")
	}
	o, err := parse(nil, io.Discard)
	if err != nil || o.features != dataset.EdgesCentred || o.request.Trust != plan.Nobody || o.request.Clients != 60000 {
		t.Fatalf("%+v, %v", o, err)
	}
	_, run, err := o.plan(t.Context(), dataset.Pictures)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := run.Promise(t.Context(), run.Affordable); err != nil || p.Central != nil || *p.LocalTotal != 4 || p.LocalDelta != 0 || p.Participations != 1 {
		t.Errorf("promises %+v, %v", p, err)
	}
	for _, args := range [][]string{{"--data", "textures"}, {"--roles", "3"}} {
		if o, err := parse(args, io.Discard); err != nil || (o.features == dataset.DemoFeatures) != (args[0] == "--data") || (o.request.Trust == plan.Shuffler) != (args[0] == "--roles") {
			t.Errorf("%q: %+v, %v", args, o, err)
		}
	}
}

// Where nobody is trusted a client reports once, and the run starts from what the features' public network knows.
func TestNobodyIsTrusted(t *testing.T) {
	o, model, run, data := small(t, "auto", "--trust", "nobody")
	if run.Trust != plan.Nobody || run.Outlook == nil || !(run.Outlook.Factor > 0 && run.Outlook.Factor <= 1) || !slices.ContainsFunc(o.first, func(v float64) bool { return v != 0 }) {
		t.Fatalf("%+v", run)
	}
	if p, err := run.Spending.Promise(t.Context(), run.Affordable); err != nil || p.Participations != 1 || *p.LocalTotal != 5 {
		t.Errorf("%+v, %v", p, err)
	}
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	var accuracy float64
	if _, rest, found := strings.Cut(out.String(), "test accuracy"); !found {
		t.Error(out.String())
	} else if _, err := fmt.Sscan(rest, &accuracy); err != nil || accuracy < 0.97 {
		t.Errorf("accuracy %g, %v\n%s", accuracy, err, out.String())
	}
}
