package training

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/plan"
)

// Every contender trains, with what it promises beside it; the same whatever the number of
// jobs, and from a checkpoint.
func TestSweep(t *testing.T) {
	data := digits(t, 450, 100)
	s := sweep{rounds: 3, delta: 1e-6, server: planAll, locals: []float64{2}, centrals: []float64{2}, repeats: 2, features: []string{dataset.DemoFeatures}, contenders: contenders}
	path := filepath.Join(t.TempDir(), "checkpoint")
	var results []*experiment.Result
	runs := []int{1, 2, 2}
	if testing.Short() {
		runs = runs[1:2]
	}
	for _, jobs := range runs {
		env := experiment.Env{Seed: 5, Jobs: jobs}
		if len(results) > 0 {
			var err error
			if env.Checkpoint, err = experiment.OpenCheckpoint(path, "bench"); err != nil {
				t.Fatal(err)
			}
		}
		r, err := s.on(t.Context(), env, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.Validate(), env.Checkpoint.Close(false)); err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	seconds := slices.Index(results[0].Columns, "seconds")
	for _, r := range results {
		for i := range r.Rows {
			if took, ok := r.Rows[i][seconds].(float64); !ok || took <= 0 {
				t.Errorf("%v took %v", r.Rows[i], r.Rows[i][seconds])
			}
			r.Rows[i][seconds] = nil
		}
		if !reflect.DeepEqual(r.Rows, results[0].Rows) {
			t.Errorf("rows differ:\n%v\n%v", r.Rows, results[0].Rows)
		}
	}
	at := func(row experiment.Row, name string) any { return row[slices.Index(results[0].Columns, name)] }
	for i, c := range contenders {
		row := results[0].Rows[i]
		local, central := at(row, "epsilon_local"), at(row, "epsilon_central")
		if all := at(row, "epsilon_local_all"); local == nil && all != nil || local != nil && all != local.(float64)*float64(at(row, "participations").(int)) {
			t.Errorf("%v: ε of all reports of a client %v", row, all)
		}
		switch c.role {
		case reference:
			if local != nil || central != nil {
				t.Errorf("%s promises %v and %v", c.name, local, central)
			}
		case ours, localBaseline:
			if got, ok := central.(float64); local != 2. || !ok || !(got > 0 && got <= 6+1e-6) {
				t.Errorf("%s promises %v and %v, want 2 and at most 6", c.name, local, central)
			}
		case pooled, trustedServer: // the ε of a round of two servers is the largest up to 1e-4
			if got, ok := central.(float64); local != nil || !ok || got > 2 || got < 1.999 {
				t.Errorf("%s promises %v and %v, want nothing and 2", c.name, local, central)
			}
		case planned:
			if got, ok := central.(float64); local == nil || !ok || got > 2 || got < 1.8 {
				t.Errorf("%s promises %v and %v, want a central ε of nearly 2", c.name, local, central)
			}
		}
		if row[0] != c.name || !(at(row, "accuracy").(float64) > 0.02) || !(at(row, "bytes_per_report").(float64) > 0) || !(at(row, "noise").(float64) > 0) {
			t.Errorf("row %v", row)
		}
	}
	if err := paint.SVG(io.Discard, results[0].Plot); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.on(ctx, experiment.Env{Jobs: 1}, data); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Every kind of features has rows of its own, with its name, and a curve of its own.

func TestSweepOverFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("trains as TestSweep does")
	}
	s := sweep{rounds: 3, delta: 1e-6, server: planAll, centrals: []float64{1, 4}, repeats: 1, features: []string{dataset.Edges, dataset.Grey}, contenders: contenders[1:2]}
	r, err := s.on(t.Context(), experiment.Env{Seed: 5, Jobs: 2}, digits(t, 600, 100))
	if err != nil {
		t.Fatal(err)
	}
	column := slices.Index(r.Columns, "features")
	var kinds []any
	for _, row := range r.Rows {
		kinds = append(kinds, row[column])
	}
	if want := []any{"edges", "edges", "grey", "grey"}; !slices.Equal(kinds, want) {
		t.Errorf("rows are of %v, want %v", kinds, want)
	}
	central := r.Plot.Panels[1].Series
	if len(central) != 2 || central[0].Name != "auto, edges" || central[1].Name != "auto, grey" || len(central[1].X) != 2 {
		t.Errorf("curves %+v", central)
	}
	if note := r.Notes[0]; !strings.Contains(note, "edges: edges of 4×4 pixels, norm 1, 1970 weights") || !strings.Contains(note, "grey: grey values of 2×2 pixels, 1970 weights") {
		t.Errorf("the notes say %q", note)
	}
}

func TestAccuracyFlags(t *testing.T) {
	for param, args := range map[string][]string{
		"--rounds": {"--rounds", "2"}, "--delta": {"--delta", "0"}, "--mechanisms": {"--mechanisms", "coco,magic"},
		"--dropout": {"--dropout", "0.95"}, "--dropout ": {"--dropout", "NaN"}, "--lr": {"--lr", "NaN"}, "--momentum": {"--momentum", "1"}, "--averaging": {"--averaging", "-0.5"},
		"--skew": {"--skew", "-1", "--clients", "600"}, "--skew ": {"--skew", "0.1"}, "--clients": {"--clients", "1"}, "--clients ": {"--clients", "6001"},
		"--features": {"--features", "edges,magic"}, "--features ": {"--features", "edges,edges"},
		"--local": {"--local", "1,x"}, "--central": {"--central", "0"},
	} {
		flags := flag.NewFlagSet("accuracy", flag.ContinueOnError)
		run := accuracyExperiment().Bind(flags)
		if err := command.Parse(flags, args); err != nil {
			t.Fatal(err)
		}
		var p *fl.ParamError
		if _, err := run(t.Context(), experiment.Env{Jobs: 1, Quick: true}); !errors.As(err, &p) || p.Param != strings.TrimSpace(param) {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

// Every contender takes the steps that the features bear.
func TestCentredFeaturesHaveStepsOfTheirOwn(t *testing.T) {
	for name, want := range map[string]bool{dataset.Edges: false, "edges-centred": true} {
		task, err := newTask(t.Context(), experiment.Env{}, digits(t, 300, 100), name)
		if err != nil {
			t.Fatal(err)
		}
		demands, err := sweep{rounds: 10, delta: 1e-6}.demands(t.Context(), task)
		if err != nil || demands.Centred != want {
			t.Errorf("%s: %+v, %v, want centred %t", name, demands, err, want)
		}
		steps := setting{Training: demands, server: planAll}.steps(0.01)
		if centred := steps == (plan.Training{L2: demands.L2, Rounds: 10, Centred: true}).Steps(0.01); centred != want {
			t.Errorf("%s: steps %+v, want centred %t", name, steps, want)
		}
	}
}
