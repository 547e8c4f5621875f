package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// Liars with one crafted report raise the alarm on the screen, in the summary and on the page, and are left out of the step.
func TestLiarsRaiseTheAlarm(t *testing.T) {
	if !*long {
		t.Skip("takes a second: go test -long")
	}
	var log kept
	f := runningWith(t, &log, "coco", "--dashboard", "--seed", "7", "--epsilon", "1", "--liars", "0.9")
	e, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
	if err != nil {
		t.Fatal(err)
	}
	bias := f.model.Dim() - 10
	if len(e.Suspects) == 0 || e.Mean().Value[bias] >= 0 {
		t.Errorf("suspects %v, bias %g: want an alarm, and a step that raises the bias", e.Suspects, e.Mean().Value[bias])
	}
	if s := shownBy(t, log.String()); len(s.Rounds) != 1 || s.Rounds[0].Worth == nil || s.Rounds[0].Worth.Suspects != len(e.Suspects) {
		t.Errorf("the page shows %+v, want %d suspects", s.Rounds, len(e.Suspects))
	}

	dir := t.TempDir()
	o, model, run, data := small(t, "coco", "--features", dataset.EdgesCentred, "--seed", "7", "--epsilon", "1", "--liars", "0.9", "--out", dir)
	run.Centring = plan.NewCentring(model.Dim()/10-1, 1, 1, 0) // the first of three rounds is about the features, and its alarm counts
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	fitsATerminal(t, strings.ReplaceAll(out.String(), dir, "out"))
	if strings.Count(out.String(), "alarm: clients lie.") != 1 {
		t.Errorf("no alarm, or more than one, in\n%s", out.String())
	}
	var s struct {
		Alarms int `json:"rounds_with_an_alarm"`
		Rounds int `json:"rounds_trained"`
	}
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil || s.Alarms != 3 || s.Rounds != 3 {
		t.Errorf("%+v, %v, want alarms in all three rounds", s, err)
	}
}

// With a check of steps liars do not make the model worse than it was on public pictures. The screen and the summary say which steps were not taken.
func TestTheStepCheckStopsLiars(t *testing.T) {
	dir := t.TempDir()
	o, model, run, data := small(t, "none", "--liars", "1", "--attack", "reverse", "--check-steps", "--out", dir)
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	fitsATerminal(t, strings.ReplaceAll(out.String(), dir, "out"))
	var s struct {
		Refused int     `json:"steps_refused"`
		Rounds  int     `json:"rounds_trained"`
		Before  float64 `json:"before"`
		Score   float64 `json:"test_accuracy"`
	}
	raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil || s.Refused != s.Rounds || s.Rounds != 3 || s.Score != s.Before || strings.Count(out.String(), "check: the step") != 1 {
		t.Errorf("%+v, %v, want all steps refused\n%s", s, err, out.String())
	}
}

// Liars are found by public pictures. The screen and the summary say so, apart from the proved alarm. Honest clients with such pictures are not. 45 liars in each of 3 rounds
// are three times as many as the alarm needs.
func TestLiarsAreFoundByPublicPictures(t *testing.T) {
	if !*long {
		t.Skip("takes seconds")
	}
	for share, found := range map[string]bool{"0": false, "0.15": true} {
		dir := t.TempDir()
		o, model, run, data := small(t, "coco", "--epsilon", "1", "--liars", share, "--public-alarm", "--out", dir)
		var out strings.Builder
		if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
			t.Fatal(err)
		}
		fitsATerminal(t, strings.ReplaceAll(out.String(), dir, "out"))
		var s struct {
			Alarms int `json:"rounds_with_an_alarm"`
			Public int `json:"rounds_with_a_public_alarm"`
			First  int `json:"first_public_alarm"`
		}
		raw, err := os.ReadFile(filepath.Join(dir, "summary.json"))
		if err == nil {
			err = json.Unmarshal(raw, &s)
		}
		if err != nil || (s.Alarms > 0 && !found) || (s.Public > 0) != found || (s.First > 0) != found || (strings.Count(out.String(), "public alarm: ") == 1) != found {
			t.Errorf("share %s: %+v, %v, want alarms: %v\n%s", share, s, err, found, out.String())
		}
	}
	var p *fl.ParamError
	o, err := parse([]string{"--mechanism", "none", "--public-alarm"}, io.Discard)
	if err == nil {
		_, _, err = o.plan(t.Context(), 900)
	}
	if !errors.As(err, &p) || p.Param != "--public-alarm" {
		t.Errorf("mechanism none: %v, want a ParamError for --public-alarm", err)
	}
}

// Clients who all name a wrong class teach it.
func TestWrongLabelsAreLearned(t *testing.T) {
	o, model, run, data := small(t, "none", "--liars", "1", "--attack", "labels", "--features", dataset.EdgesCentred)
	var out strings.Builder
	if err := o.train(t.Context(), model, run, data, command.Streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	accuracy := regexp.MustCompile(`test accuracy +([0-9.]+)`).FindStringSubmatch(out.String())
	bare := regexp.MustCompile(`without privacy +([0-9.]+)`).FindStringSubmatch(out.String())
	if accuracy == nil || bare == nil || accuracy[1] > "0.1" || bare[1] < "0.3" {
		t.Errorf("accuracies %q and, of right labels, %q\n%s", accuracy, bare, out.String())
	}
}

// Liars of the other attack report the opposite of their gradients. Without privacy nothing is clipped.
func TestReversedGradientsAreTheOpposite(t *testing.T) {
	mean := func(args ...string) []float64 {
		var log kept
		f := runningWith(t, &log, "none", append(args, "--seed", "7")...)
		e, err := f.Mean(t.Context(), 0, make([]float64, f.model.Dim()))
		if err != nil {
			t.Fatal(err)
		}
		return e.Mean().Value
	}
	honest, lied := mean(), mean("--liars", "1", "--attack", "reverse")
	for j, v := range honest {
		if want := -1e6 * v; math.Abs(lied[j]-want) > 1e-3*math.Abs(want)+1e-3 {
			t.Fatalf("coordinate %d: %g, want %g", j, lied[j], want)
		}
	}
}

func TestWrongLiarsAreRefused(t *testing.T) {
	for param, args := range map[string][]string{
		"--liars": {"--liars", "1.5"}, "--attack": {"--attack", "magic"}, "--liars ": {"--liars", "0.1", "--trust", "own-site"},
		"--plan-liars": {"--plan-liars", "0.7"}, "--plan-liars ": {"--plan-liars", "0.1", "--trust", "two-servers", "--roles", "3"},
	} {
		var p *fl.ParamError
		if _, err := parse(args, io.Discard); !errors.As(err, &p) || p.Param != strings.TrimSpace(param) {
			t.Errorf("%v: %v, want a ParamError for %s", args, err, param)
		}
	}
}
