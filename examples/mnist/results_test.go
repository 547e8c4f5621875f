package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/trainer"
	"gonum.org/v1/gonum/floats"
)

func TestEveryMechanismTrainsAndWritesItsFiles(t *testing.T) {
	for _, mechanism := range mechanisms {
		if mechanism != "coco" && mechanism != "none" && !*long { // TestTrafficIsReportsTimesTheirSize has a round of each
			continue
		}
		dir := filepath.Join(t.TempDir(), "deep", "out")
		planned := mechanism != "none" && mechanism != "sumdp"
		rounds, cohort, runs := 3, 100, "3 rounds of 100 clients, each client once"
		if mechanism == "sumdp" { // the noise of a round takes half a second, however many clients share it
			rounds, cohort, runs = 1, 300, "one round of 300 clients, each client once"
		}
		args := []string{"--out", dir, "--seed", "0", "--clients", "300", "--cohort", fmt.Sprint(cohort), "--rounds", fmt.Sprint(rounds)}
		if planned {
			args = append(args, "--explain", "--sparsity", "40") // which other features are not compared at
		}
		o, model, run, data := small(t, mechanism, args...)
		var stdout bytes.Buffer
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &stdout, Err: io.Discard}); err != nil {
			t.Fatalf("%s: %v", mechanism, err)
		}
		text := stdout.String()
		fitsATerminal(t, strings.ReplaceAll(text, dir, "out"))
		for _, want := range []string{"round  accuracy", "test accuracy", "upload per report", runs} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the output lacks %q:\n%s", mechanism, want, text)
			}
		}
		if private := mechanism != "none"; planned != strings.Contains(text, "plan: ") || private != strings.Contains(text, "No shuffler runs here") ||
			private == strings.Contains(text, "sees every gradient") || (mechanism == "sumdp") != strings.Contains(text, "local privacy      none") ||
			planned != strings.Contains(text, "local privacy      ε = 5, δ = 0") || private != strings.Contains(strings.Join(strings.Fields(text), " "), "against anyone who sees only the shuffled reports") || (mechanism == "sumdp") != strings.Contains(text, "cost: about") {
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
			"sparsity", "epsilon_local_total", "seed", "interrupted", "rounds_trained", "bytes_per_report", "zero_shot_accuracy", "messages_per_report", "seconds", "data", "model", "learning_rate", "momentum", "averaging",
		} {
			if _, ok := summary[field]; !ok {
				t.Errorf("%s: summary.json lacks %s", mechanism, field)
			}
		}
		central, private := summary["epsilon_central"].(float64)
		if private != (mechanism != "none") || private && !(central > 0 && central <= 5) {
			t.Errorf("%s: epsilon_central is %v", mechanism, summary["epsilon_central"])
		}
		if summary["data"] != "generated" || summary["dim"] != float64(650) {
			t.Errorf("%s: summary is %s", mechanism, raw)
		}

		history, err := os.Open(filepath.Join(dir, "history.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(history).ReadAll()
		if err != nil || len(rows) != 1+rounds || rows[0][1] != "accuracy" || rows[1][3] != fmt.Sprint(cohort) {
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

// An interrupt ends the run. What was trained by then is written, and the promise covers
// the round that was under way.
func TestAnInterruptLeavesWhatWasTrained(t *testing.T) {
	dir := t.TempDir()
	o, model, run, data := small(t, "coco", "--out", dir, "--seed", "0", "--cohort", "450")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &trigger{word: "\n    2  ", then: cancel}
	if err := o.train(ctx, model, run, data, command.Streams{Out: out, Err: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want the context's", err)
	}
	text := out.String()
	for _, want := range []string{"interrupted        after 2 of 3 rounds; clients may have reported in round 3\n", "test accuracy", "for the 2 reports of a client", "results "} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
	var s struct {
		Interrupted    bool    `json:"interrupted"`
		Trained        int     `json:"rounds_trained"`
		Participations int     `json:"participations"`
		Accuracy       float64 `json:"test_accuracy"`
	}
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil || !s.Interrupted || s.Trained != 2 || s.Participations != 2 || s.Accuracy == 0 {
		t.Errorf("summary %+v, %v", s, err)
	}
	if rows, err := os.ReadFile(filepath.Join(dir, "history.csv")); err != nil || strings.Count(string(rows), "\n") != 1+2 {
		t.Errorf("history.csv is %s, %v", rows, err)
	}
	if weights, err := trainer.Load(filepath.Join(dir, "model.npy"), model); err != nil || floats.Norm(weights, 2) == 0 {
		t.Errorf("model.npy: %v", err)
	}

	// Before the first round there is nothing to keep.
	dir = t.TempDir()
	o.out = dir
	if err := o.train(ctx, model, run, data, command.Streams{Out: io.Discard, Err: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v, %v, want no files", files, err)
	}
}

// trigger is an output that does something when a word has been written.
type trigger struct {
	strings.Builder
	word string
	then func()
}

func (w *trigger) Write(b []byte) (int, error) {
	n, err := w.Builder.Write(b)
	if strings.Contains(w.String(), w.word) {
		w.then()
	}
	return n, err
}

// An interrupt while the run is planned ends it with the exit code of an interrupt. To draw all digits takes a second,
// and here is a directory with twenty.
func TestAnInterruptEndsPlanning(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"images-idx3-ubyte": append([]byte{0, 0, 8, 3, 0, 0, 0, 20, 0, 0, 0, 28, 0, 0, 0, 28}, make([]byte, 20*28*28)...),
		"labels-idx1-ubyte": append([]byte{0, 0, 8, 1, 0, 0, 0, 20}, make([]byte, 20)...),
	} {
		for _, set := range []string{"train-", "t10k-"} {
			if err := os.WriteFile(filepath.Join(dir, set+name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &trigger{word: "planning", then: cancel}
	if code := command.Run(ctx, "mnist", mnist, []string{"--data", dir, "--clients", "20"}, command.Streams{Out: io.Discard, Err: stderr}); code != 130 {
		t.Errorf("exit code %d, want 130: %s", code, stderr.String())
	}
}

// A flag with a value that it must not have is an error before anything is planned.
func TestFlagsAreCheckedFirst(t *testing.T) {
	for _, flag := range []string{"--rounds=-3", "--clients=1", "--cohort=70000", "--lr=-1", "--delta=2"} {
		var stderr bytes.Buffer
		code := command.Run(t.Context(), "mnist", mnist, []string{flag}, command.Streams{Out: io.Discard, Err: &stderr})
		if code == 0 || strings.Contains(stderr.String(), "planning") || !strings.Contains(stderr.String(), "must be") {
			t.Errorf("%s: exit code %d, %s", flag, code, stderr.String())
		}
	}
}

// A directory that cannot be written is a wrong call, before anything is planned.
func TestTheOutputIsCheckedFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := command.Run(t.Context(), "mnist", mnist, []string{"--out", file}, command.Streams{Out: io.Discard, Err: &stderr})
	if code != 2 || strings.Contains(stderr.String(), "planning") || !strings.Contains(stderr.String(), "not a directory") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// A seed repeats the noise. Nothing printed or written says that such a run promises anything.
func TestSeededRunsSayThatTheyPromiseNothing(t *testing.T) {
	for _, mechanism := range []string{"coco", "sumdp"} {
		if mechanism == "sumdp" && !*long {
			continue
		}
		dir := t.TempDir()
		o, model, run, data := small(t, mechanism, "--rounds", "1", "--clients", "300", "--out", dir)
		var out strings.Builder
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		fitsATerminal(t, strings.ReplaceAll(out.String(), dir, "out"))
		if text := out.String(); !strings.Contains(text, "privacy            none: the seed repeats the noise") || strings.Contains(text, "against") && !strings.Contains(text, "bytes, against") ||
			strings.Contains(text, "central privacy") || strings.Contains(text, "local privacy") || !strings.Contains(text, "      –          –") {
			t.Errorf("%s: a seeded run says\n%s", mechanism, text)
		}
		var s map[string]any
		raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &s)
		}
		for _, field := range []string{"epsilon_local", "epsilon_local_total", "epsilon_central"} {
			if value, ok := s[field]; !ok || value != nil || err != nil {
				t.Errorf("%s: %s is %v, %v, want null", mechanism, field, value, err)
			}
		}
		if s["seed"] != 7. {
			t.Errorf("%s: the seed is %v", mechanism, s["seed"])
		}
		rows, err := os.ReadFile(filepath.Join(dir, "history.csv"))
		if err != nil || strings.Count(string(rows), ",,,") != 1 {
			t.Errorf("%s: history.csv is %s, %v", mechanism, rows, err)
		}
	}
}
