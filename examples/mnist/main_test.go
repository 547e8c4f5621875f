package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
	"github.com/hushgrad/hushgrad/trainer"
)

// mechanisms are the values of -mechanism.
var mechanisms = []string{"auto", "coco", "collision", "signsketch", "sumdp", "none"}

// small is a run of a few hundred clients on generated digits.
func small(t *testing.T, mechanism string, args ...string) (options, *trainer.Model, *plan.Run, *dataset.Data) {
	t.Helper()
	line := []string{"-mechanism", mechanism, "-clients", "900", "-cohort", "300", "-rounds", "3", "-seed", "7"}
	if mechanism != "none" && mechanism != "sumdp" {
		line = append(line, "-epsilon", "5")
	}
	o, err := parse(append(line, args...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	model, run, err := o.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 900, TestSize: 200, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return o, model, run, data
}

func TestEveryMechanismTrainsAndWritesItsFiles(t *testing.T) {
	for _, mechanism := range mechanisms {
		dir := filepath.Join(t.TempDir(), "deep", "out")
		o, model, run, data := small(t, mechanism, "-out", dir, "-explain")
		var stdout bytes.Buffer
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &stdout, Err: io.Discard}); err != nil {
			t.Fatalf("%s: %v", mechanism, err)
		}
		text := stdout.String()
		for _, want := range []string{"round  accuracy", "test accuracy", "upload per client", "plan: ", "learning rate", "3 rounds of 300 clients, each client once"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the output lacks %q:\n%s", mechanism, want, text)
			}
		}
		if private := mechanism != "none"; private != strings.Contains(text, "the server is its own shuffler") || private == strings.Contains(text, "sees every gradient") ||
			(mechanism == "sumdp") != strings.Contains(text, "the server itself nothing holds") || (mechanism == "sumdp") != strings.Contains(text, "cost: about") {
			t.Errorf("%s: the output says the wrong thing about privacy:\n%s", mechanism, text)
		}

		var summary map[string]any
		raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &summary)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{
			"test_accuracy", "mechanism", "epsilon_local", "epsilon_central", "delta", "clients", "participations", "budget", "rounds", "cohort", "dim",
			"sparsity", "bytes_per_report", "messages_per_report", "seconds", "data", "model", "learning_rate", "momentum", "averaging",
		} {
			if _, ok := summary[field]; !ok {
				t.Errorf("%s: summary.json lacks %s", mechanism, field)
			}
		}
		central, private := summary["epsilon_central"].(float64)
		if private != (mechanism != "none") || private && !(central > 0 && central <= 5) {
			t.Errorf("%s: epsilon_central is %v", mechanism, summary["epsilon_central"])
		}
		if summary["data"] != "generated" || summary["dim"] != float64(1970) {
			t.Errorf("%s: summary is %s", mechanism, raw)
		}

		history, err := os.Open(filepath.Join(dir, "history.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(history).ReadAll()
		if err != nil || len(rows) != 1+3 || rows[0][1] != "accuracy" || rows[1][3] != "300" {
			t.Errorf("%s: history.csv is %v, %v", mechanism, rows, err)
		}
		_ = history.Close()

		picture, err := os.Open(filepath.Join(dir, "accuracy.png"))
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(picture); err != nil || img.Bounds().Dx() < 300 {
			t.Errorf("%s: accuracy.png: %v", mechanism, err)
		}
		_ = picture.Close()
		if _, err := trainer.Load(filepath.Join(dir, "model.npy"), model); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
	}
}

// A run stops before the round that its budget does not allow, and does not begin
// when one round is too much.
func TestTheBudgetEndsTheRun(t *testing.T) {
	o, _, run, data := small(t, "coco", "-rounds", "9", "-budget", "9") // three times each
	two, err := run.Spending.Promise(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	o.request.Budget = *two.Central * 1.0001
	model, run, err := o.plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "\n    6  ") || strings.Contains(text, "\n    7  ") ||
		!strings.Contains(text, "is spent: another round would make it") || !strings.Contains(text, "composed over the 2 rounds") {
		t.Errorf("a budget for two participations:\n%s", text)
	}
	o.request.Budget = 1e-6
	var p *fl.ParamError
	if _, _, err := o.plan(t.Context()); !errors.As(err, &p) || p.Param != "budget" {
		t.Errorf("a budget below one round: %v, want a ParamError for budget", err)
	}
}

func TestAnInterruptEndsTheRun(t *testing.T) {
	o, model, run, data := small(t, "coco")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := o.train(ctx, model, run, data, command.Streams{Out: io.Discard, Err: io.Discard})
	if !errors.Is(err, context.Canceled) && (err == nil || !strings.Contains(err.Error(), "canceled")) {
		t.Errorf("error %v, want one about the cancellation", err)
	}
}

func TestFlags(t *testing.T) {
	var help bytes.Buffer
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-mechanism") {
		t.Errorf("-help: %v, %q", err, help.String())
	}
	for _, args := range [][]string{{"stray"}, {"-magic"}, {"-rounds=x"}} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) {
			t.Errorf("%v: error %v, want a ParamError", args, err)
		}
	}
	for arg, param := range map[string]string{
		"-mechanism=magic": "mechanism", "-model=gpt": "model", "-epsilon=NaN": "epsilon", "-delta=1": "delta", "-cohort=1": "cohort",
		"-rounds=-1": "rounds", "-clients=1": "clients", "-budget=-1": "budget", "-sparsity=-1": "sparsity", "-clip=-1": "clip", "-lr=-1": "learning rate",
	} {
		o, err := parse([]string{arg}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var p *fl.ParamError
		if _, _, err := o.plan(t.Context()); !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v, want a ParamError for %s", arg, err, param)
		}
	}
	o, model, run, data := small(t, "coco", "-clients", "1000")
	var p *fl.ParamError
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: io.Discard, Err: io.Discard}); !errors.As(err, &p) || p.Param != "clients" {
		t.Errorf("1000 clients for 900 images: %v, want a ParamError for clients", err)
	}
}

// What the flags say stays, and networks with hidden units take small steps.
func TestTheFlagsArePlannedWith(t *testing.T) {
	o, model, run, _ := small(t, "signsketch", "-cohort", "450", "-sparsity", "9", "-clip", "3", "-lr", "0.7", "-delta", "1e-4")
	if run.Mechanism != "signsketch" || run.Template.Epsilon != 5 || run.Cohort != 450 || run.Sparsity != 9 || run.LearningRate != 0.7 || run.Budget != 0 ||
		run.Template.Scale < 2.999/9 || run.Template.Scale > 3.001/9 || run.Dim != model.Dim() || o.seed != 7 {
		t.Errorf("planned %+v", run)
	}
	if p, err := run.Promise(t.Context()); err != nil || p.Delta != 1e-4 {
		t.Errorf("promises %+v, %v", p, err)
	}
	if _, mlp, run, _ := small(t, "none", "-model", "mlp"); run.LearningRate > networkRate || len(mlp.Layout()) != 4 {
		t.Errorf("mlp: %+v", run)
	}
	if _, cnn, run, _ := small(t, "none", "-model", "cnn", "-lr", "5"); run.LearningRate != 5 || len(cnn.Layout()) != 6 {
		t.Errorf("cnn: %+v", run)
	}
}
