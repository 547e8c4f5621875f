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
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/trainer"
)

// small is a run of a few hundred clients on generated digits.
func small(t *testing.T, mechanism string) (config, *dataset.Data) {
	t.Helper()
	c := defaults(mechanism)
	c.clients, c.cohort, c.rounds, c.seed = 900, 300, 3, 7
	if c.epsilon == 0 && c.private() {
		c.epsilon = 5
	}
	data, err := dataset.Generate(t.Context(), dataset.Options{TrainSize: 900, TestSize: 200, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	if data, err = c.transformed(data); err != nil {
		t.Fatal(err)
	}
	model, err := c.modelOn(data.Train)
	if err != nil {
		t.Fatal(err)
	}
	if c, _, err = c.planned(t.Context(), model); err != nil {
		t.Fatal(err)
	}
	return c, data
}

func TestEveryMechanismTrainsAndWritesItsFiles(t *testing.T) {
	for _, mechanism := range mechanisms {
		c, data := small(t, mechanism)
		c.out = filepath.Join(t.TempDir(), "deep", "out")
		var stdout bytes.Buffer
		if err := train(t.Context(), c, data, &stdout, io.Discard); err != nil {
			t.Fatalf("%s: %v", mechanism, err)
		}
		text := stdout.String()
		for _, want := range []string{"round  accuracy", "test accuracy", "upload per client"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the output lacks %q:\n%s", mechanism, want, text)
			}
		}
		if private := mechanism != "none"; private != strings.Contains(text, "the server is its own shuffler") || private == strings.Contains(text, "sees every gradient") ||
			(mechanism == "sumdp") != strings.Contains(text, "the server itself nothing holds") {
			t.Errorf("%s: the output says the wrong thing about privacy:\n%s", mechanism, text)
		}

		var summary map[string]any
		raw, err := os.ReadFile(filepath.Join(c.out, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &summary)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"test_accuracy", "mechanism", "epsilon_local", "epsilon_central", "delta", "clients", "participations", "budget", "rounds", "cohort", "dim", "sparsity", "bytes_per_report", "messages_per_report", "seconds", "data"} {
			if _, ok := summary[field]; !ok {
				t.Errorf("%s: summary.json lacks %s", mechanism, field)
			}
		}
		central, private := summary["epsilon_central"].(float64)
		if private != (mechanism != "none") || private && !(central > 0 && central <= c.epsilon) {
			t.Errorf("%s: epsilon_central is %v", mechanism, summary["epsilon_central"])
		}
		if summary["data"] != "generated" || summary["dim"] != float64((data.Train.Dim()+1)*10) {
			t.Errorf("%s: summary is %s", mechanism, raw)
		}

		history, err := os.Open(filepath.Join(c.out, "history.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(history).ReadAll()
		if err != nil || len(rows) != 1+c.rounds || rows[0][1] != "accuracy" || rows[1][3] != "300" {
			t.Errorf("%s: history.csv is %v, %v", mechanism, rows, err)
		}
		_ = history.Close()

		picture, err := os.Open(filepath.Join(c.out, "accuracy.png"))
		if err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(picture); err != nil || img.Bounds().Dx() < 300 {
			t.Errorf("%s: accuracy.png: %v", mechanism, err)
		}
		_ = picture.Close()

		model, err := c.modelOn(data.Train)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trainer.Load(filepath.Join(c.out, "model.npy"), model); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
	}
}

// Without noise 3 rounds already learn; the loss of a model that learns falls
// below log 10 = 2.303 in every one of them.
func TestLearningIsVisibleAndRepeatable(t *testing.T) {
	c, data := small(t, "none")
	c.lr = 4 // small enough for every step to go down
	model, err := c.modelOn(data.Train)
	if err != nil {
		t.Fatal(err)
	}
	test, err := newTester(model, data.Test)
	if err != nil {
		t.Fatal(err)
	}
	defer test.close()
	losses := func(c config) (out []float64) {
		f, err := newFederation(c, model, data.Train)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.close(); err != nil {
				t.Error(err)
			}
		}()
		for i := range c.rounds {
			if _, sent, err := f.round(t.Context(), i, func() {}); err != nil || sent.reports != int64(c.cohort) {
				t.Fatalf("%d reports, %v", sent.reports, err)
			}
			_, loss, err := test.measure(f.params)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, loss)
		}
		return out
	}
	plain := losses(c)
	for i, l := range plain {
		if before := 2.303; i > 0 && l >= plain[i-1] || l >= before {
			t.Errorf("losses %v do not fall", plain)
		}
	}
	// Integer sums make a private run repeat to the last bit, whatever the order
	// in which devices finish.
	c.mechanism, c.epsilon = "coco", 5
	first, second := losses(c), losses(c)
	c.seed++
	other := losses(c)
	if first[2] != second[2] || first[2] == other[2] {
		t.Errorf("seed 7 gives %v and %v, seed 8 gives %v", first, second, other)
	}
}

// The model that counts is the average of the models: the last one where the decay is 0.
func TestTheAverageCounts(t *testing.T) {
	for _, averaging := range []float64{0, 0.8} {
		c, data := small(t, "none")
		c.averaging = averaging
		f := running(t, c, data.Train)
		for i := range 2 {
			if _, _, err := f.round(t.Context(), i, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Equal(f.params, f.averaged) != (averaging == 0) || f.averaged[0] == 0 && slices.Max(f.averaged) == 0 {
			t.Errorf("decay %g: the average is %v…, the last model %v…", averaging, f.averaged[:3], f.params[:3])
		}
	}
}

func TestAnInterruptEndsTheRun(t *testing.T) {
	c, data := small(t, "coco")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := train(ctx, c, data, io.Discard, io.Discard); !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "canceled") {
		t.Errorf("error %v, want one about the cancellation", err)
	}
}

func TestFlags(t *testing.T) {
	var help bytes.Buffer
	if _, err := parseFlags([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-mechanism") {
		t.Errorf("-help: %v, %q", err, help.String())
	}
	if c, err := parseFlags(nil, io.Discard); err != nil || c.mechanism != "auto" || c.budget != defaultBudget || c.epsilon != 0 {
		t.Errorf("no flags: %+v, %v", c, err)
	}
	for _, arg := range []string{"-epsilon=2", "-mechanism=none", "-mechanism=sumdp", "-tiers=1:1"} {
		if c, err := parseFlags([]string{arg}, io.Discard); err != nil || c.budget != 0 {
			t.Errorf("%s: %+v, %v, want no budget", arg, c, err)
		}
	}
	for arg, param := range map[string]string{
		"-mechanism=magic": "-mechanism", "-model=gpt": "-model", "-epsilon=NaN": "-epsilon",
		"-delta=1": "-delta", "-cohort=1": "-cohort", "-rounds=0": "-rounds", "-clients=1": "-clients", "-budget=-1": "-budget", "-budget=Inf": "-budget", "-tiers=1": "-tiers", "-tiers=1:0.5,2:0.4": "-tiers", "-tiers=2:0.5,1:0.5": "-tiers",
		"-sparsity=-1": "-sparsity", "-clip=-1": "-clip", "-clip=Inf": "-clip", "-lr=-1": "-lr",
		"-momentum=1": "-momentum", "-pool=0": "-pool", "stray": "arguments",
	} {
		_, err := parseFlags([]string{arg}, io.Discard)
		var p *fl.ParamError
		if !errors.As(err, &p) || p.Param != param {
			t.Errorf("%s: error %v, want a ParamError for %s", arg, err, param)
		}
	}
	for _, args := range [][]string{{"-mechanism=sumdp", "-epsilon=0"}, {"-tiers=1:1", "-epsilon=1"}} {
		var p *fl.ParamError
		if _, err := parseFlags(args, io.Discard); !errors.As(err, &p) || p.Param != "-epsilon" {
			t.Errorf("%v: error %v, want a ParamError for -epsilon", args, err)
		}
	}
	c := defaults("coco")
	c.clients, c.cohort, c.rounds = 1000, 300, 3
	_, data := small(t, "coco")
	if _, err := newPopulation(c, data.Train); err == nil {
		t.Error("1000 clients for 900 images: want an error")
	}
}
