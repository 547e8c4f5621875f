package laboratory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// commandOf is go run ./bench with a list of experiments.
func commandOf(list ...experiment.Experiment) program { return program{"go run ./bench", list} }

// echo is an experiment that shows what it was given.
func echo() experiment.Experiment {
	return experiment.Experiment{Name: "echo", Title: "What was said", Source: "Nobody, 1900, Table 0",
		Bind: func(f *flag.FlagSet) experiment.Run {
			word := f.String("word", "hello", "what to say")
			return func(ctx context.Context, env experiment.Env) (*experiment.Result, error) {
				if *word == "bad" {
					return nil, fl.Invalid("--word", *word, "must be good")
				}
				env.Progress.Grow(1)
				env.Progress.Step()
				return &experiment.Result{
					Columns:  []string{"word", "data", "seed", "repeats", "quick", "jobs"},
					Rows:     []experiment.Row{{*word, env.Data, int64(env.Seed), env.Repeats, env.Quick, env.Jobs}},
					Verdicts: []experiment.Verdict{{Claim: "silence", Holds: false}},
					Plot:     &figure.Figure{Panels: make([]figure.Panel, 1)},
				}, ctx.Err()
			}
		}}
}

func TestBench(t *testing.T) {
	plain := echo()
	plain.Name, plain.Title = "table3", "A table"
	part := echo()
	part.Name, part.Title, part.PartOf = "table3a", "A column", "table3"
	alone := echo()
	alone.Name, alone.Title, alone.Alone, alone.Kind = "training", "A long run", true, experiment.ForMaintainers
	plain.Kind, part.Kind = experiment.OfPaper, experiment.OfPaper
	list := []experiment.Experiment{echo(), plain, part, alone}
	for name, c := range map[string]struct {
		args   []string
		param  string // of the error; "" for none
		stdout string
		stderr string
	}{
		"nothing":          {nil, "", "Tables and figures of the papers:\n  table3   A table\n  table3a  A column\nMeasurements of ours:\n  echo  What was said\nFor maintainers:\n  training  A long run\n", ""},
		"help":             {[]string{"--help"}, "", "  table3   A table\n", ""},
		"unknown":          {[]string{"table4"}, "experiment", "", ""},
		"defaults":         {[]string{"echo", "--jobs", "2"}, "", "hello        1     0        false  2\n", ""},
		"flags":            {[]string{"echo", "--word=x", "--data=d", "--seed=9", "--repeats=3", "--quick", "--jobs=5"}, "", "x     d     9     3        true   5\n", ""},
		"head":             {[]string{"echo"}, "", "What was said\nNobody, 1900, Table 0\n\n", ""},
		"a false verdict":  {[]string{"echo"}, "", "no:  silence\n", ""},
		"a file as --out":  {[]string{"echo", "--out=laboratory.go"}, "--out", "", ""},
		"draw into a file": {[]string{"draw", "laboratory.go"}, "DIR", "", ""}, // before fonts are sought
		"unknown flag":     {[]string{"echo", "--wrod=x"}, "flags", "", ""},
		"argument":         {[]string{"echo", "now"}, "arguments", "", ""},
		"jobs":             {[]string{"echo", "--jobs=0"}, "--jobs", "", ""},
		"many jobs":        {[]string{"echo", "--jobs=1000000000000000"}, "--jobs", "", ""},
		"repeats":          {[]string{"echo", "--repeats=-1"}, "--repeats", "", ""},
		"seeds":            {[]string{"echo", "--seeds=0"}, "--seeds", "", ""},
		"many seeds":       {[]string{"echo", "--seeds=1000000"}, "--seeds", "", ""},
		"two seeds":        {[]string{"echo", "--seeds=2", "--seed=7"}, "", "The rows are the rows of seed 7. Verdicts are over 2 seeds", ""},
		"verdicts":         {[]string{"verdicts", "--word=x"}, "flags", "", ""},
		"many repeats":     {[]string{"echo", "--repeats=1000000000"}, "--repeats", "", ""},
		"help and more":    {[]string{"help", "echo"}, "arguments", "", ""},
		"experiment's own": {[]string{"echo", "--word=bad"}, "--word", "", ""},
		"all":              {[]string{"all", "--seed=4"}, "", "A table\nNobody, 1900, Table 0\n\nword   data  seed  repeats  quick  jobs\nhello        4", ""},
		"all, bad flag":    {[]string{"all", "--jobs=0"}, "--jobs", "", ""},
		"all, own flag":    {[]string{"all", "--word=x"}, "flags", "", ""},
	} {
		var stdout, stderr bytes.Buffer
		err := commandOf(list...).run(t.Context(), c.args, command.Streams{Out: &stdout, Err: &stderr})
		var wrong *fl.ParamError
		if c.param == "" && err != nil || c.param != "" && (!errors.As(err, &wrong) || wrong.Param != c.param) {
			t.Errorf("%s: error %v, want one for %q", name, err, c.param)
		}
		if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%s: stdout %q, stderr %q", name, stdout.String(), stderr.String())
		}
	}
	var all bytes.Buffer
	if err := commandOf(list...).run(t.Context(), []string{"all"}, command.Streams{Out: &all, Err: io.Discard}); err != nil || strings.Contains(all.String(), "A column") || strings.Contains(all.String(), "A long run") {
		t.Errorf("all runs what is part of something else, or alone: %q, %v", all.String(), err)
	}
	err := commandOf(list...).run(t.Context(), []string{"table4"}, command.Streams{Out: io.Discard, Err: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "one of echo, table3") || !strings.HasSuffix(err.Error(), "(did you mean table3 or table3a?)") {
		t.Errorf("an unknown name: %v, want the names", err)
	}
	var help bytes.Buffer
	err = commandOf(list...).run(t.Context(), []string{"echo", "--help"}, command.Streams{Out: &help, Err: io.Discard})
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: %v", err)
	}
	for _, part := range []string{"Usage: go run ./bench echo [flags]", "What was said", "Nobody", "--word", "--seed", "echo.csv", "where there is a picture", "empty: generated digits"} {
		if !strings.Contains(strings.Join(strings.Fields(help.String()), " "), part) {
			t.Errorf("help does not have %q:\n%s", part, help.String())
		}
	}
	own := echo()
	own.DataHelp = "numbers of one's own"
	help.Reset()
	if err = commandOf(own).run(t.Context(), []string{"echo", "--help"}, command.Streams{Out: &help, Err: io.Discard}); !errors.Is(err, flag.ErrHelp) ||
		!strings.Contains(help.String(), own.DataHelp) || strings.Contains(help.String(), "generated digits") {
		t.Errorf("help with a text for --data: %v\n%s", err, help.String())
	}
}

// drawing is an experiment whose claim holds for odd seeds.
func drawing() experiment.Experiment {
	return experiment.Experiment{
		Name: "table3", Title: "A table", Source: "Nobody", Kind: experiment.OfPaper, Settings: []string{"--relation=zero-out"}, Without: []string{experiment.FlagData},
		Bind: func(f *flag.FlagSet) experiment.Run {
			relation := f.String("relation", "other", "what to protect")
			return func(_ context.Context, env experiment.Env) (*experiment.Result, error) {
				values, err := env.Checkpoint.Do("part", func() ([]float64, error) { return []float64{float64(env.Seed)}, nil })
				return &experiment.Result{Columns: []string{"seed", "relation"}, Rows: []experiment.Row{{values[0], *relation}}, Verdicts: []experiment.Verdict{
					{Claim: "odd", Holds: env.Seed%2 == 1}, {Claim: "number", Holds: true},
				}}, err
			}
		},
	}
}

// verdicts runs the papers' experiments at their settings with five seeds, and leaves the others out.
func TestVerdictsAreOverSeeds(t *testing.T) {
	exact := echo()
	exact.Name, exact.Kind, exact.Without = "exact", experiment.OfPaper, []string{experiment.FlagData, experiment.FlagRepeats, experiment.FlagSeed}
	dir := t.TempDir()
	var stdout bytes.Buffer
	if err := commandOf(echo(), drawing(), exact).run(t.Context(), []string{"verdicts", "--out", dir}, command.Streams{Out: &stdout, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"depends on the draw (3 of 5): odd\n", "yes: number\n", "no:  silence\n", "table3 took", "All verdicts took"} {
		if !strings.Contains(stdout.String(), part) {
			t.Errorf("no %q in\n%s", part, stdout.String())
		}
	}
	if strings.Contains(stdout.String(), "relation") || strings.Count(stdout.String(), "What was said") != 1 {
		t.Errorf("rows, or an experiment that is not a paper's:\n%s", stdout.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "table3", "table3.json"))
	for _, part := range []string{`"command": "go run ./bench table3 --seed 1 --relation zero-out --seeds 5"`, `{"seed":1,"relation":"zero-out"}`, `{"claim":"odd","holds":null,"found":"depends on the draw (3 of 5)","draws":{"held":3,"of":5},"detail":""}`} {
		if err != nil || !strings.Contains(string(text), part) {
			t.Errorf("%v, no %s in\n%s", err, part, text)
		}
	}
}

// A common flag that an experiment has no use for is an error, but not for all of them
// together, and the command that does the same again is without it.
func TestFlagsThatMeanNothingAreErrors(t *testing.T) {
	exact := echo()
	exact.Name, exact.Without = "exact", []string{experiment.FlagData, experiment.FlagQuick, experiment.FlagRepeats, experiment.FlagSeed}
	list := []experiment.Experiment{echo(), exact}
	for _, flag := range []string{"--data=d", "--quick", "--repeats=3", "--seed=9"} {
		var wrong *fl.ParamError
		err := commandOf(list...).run(t.Context(), []string{"exact", flag}, command.Streams{Out: io.Discard, Err: io.Discard})
		if !errors.As(err, &wrong) || wrong.Param != "flags" {
			t.Errorf("%s: %v, want a ParamError for flags", flag, err)
		}
	}
	dir := t.TempDir()
	var stdout bytes.Buffer
	args := []string{"all", "--data=d", "--quick", "--repeats=3", "--seed=9", "--jobs=1", "--out", dir}
	if err := commandOf(list...).run(t.Context(), args, command.Streams{Out: &stdout, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"echo":  {`"command": "go run ./bench echo --seed 9 --data d --quick=true --repeats 3"`, `"quick": true`},
		"exact": {`"command": "go run ./bench exact"`, `"quick": false`, `"repeats":0`},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(string(text), line) {
				t.Errorf("%s: JSON without %s:\n%s", name, line, text)
			}
		}
	}
}

func TestBenchWritesFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var stdout bytes.Buffer
	args := []string{"echo", "--word", "it's so", "--quick", "--out", dir, "--jobs", "3", "--data", "d"}
	if err := commandOf(echo()).run(t.Context(), args, command.Streams{Out: &stdout, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	if want := "Written to " + dir + ": echo.csv, echo.json, echo.png, echo.svg, echo.pdf\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("stdout %q, want %q at its end", stdout.String(), want)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 {
		t.Errorf("%d files, error %v, want 5", len(entries), err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "echo.json"))
	if err != nil {
		t.Fatal(err)
	}
	const line = `"command": "go run ./bench echo --seed 1 --data d --quick=true --word 'it'\\''s so'"`
	if !strings.Contains(string(text), line) {
		t.Errorf("JSON without %s:\n%s", line, text)
	}
	if err := commandOf(echo()).run(t.Context(), []string{"echo", "--out", filepath.Join(dir, "echo.csv")}, command.Streams{Out: io.Discard, Err: io.Discard}); err == nil {
		t.Error("no error for --out with the name of a file")
	}
}

// A flag that no number depends on is not in the recorded command.
func TestFlagsAsideAreNotRecorded(t *testing.T) {
	e := echo()
	e.Aside = []string{"word"}
	b, err := commandOf().parse(e, []string{"--word=x", "--seed=2"}, io.Discard, false)
	if err != nil || b.command != "go run ./bench echo --seed 2" {
		t.Errorf("command %q, %v", b.command, err)
	}
}

// A flag that was given several times stands as often in the recorded command, and each value is one word.
func TestRepeatedFlagsAreRecorded(t *testing.T) {
	e := echo()
	e.Bind = func(f *flag.FlagSet) experiment.Run {
		f.StringArray("more", nil, "")
		return nil
	}
	b, err := commandOf().parse(e, []string{"--seed=2", "--more=--budget=1", "--more", "two words"}, io.Discard, false)
	if err != nil || b.command != "go run ./bench echo --seed 2 --more --budget=1 --more 'two words'" {
		t.Errorf("command %q, %v", b.command, err)
	}
}

func TestBenchStops(t *testing.T) {
	waiting := echo()
	waiting.Bind = func(*flag.FlagSet) experiment.Run {
		return func(ctx context.Context, _ experiment.Env) (*experiment.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- commandOf(waiting).run(ctx, []string{"echo"}, command.Streams{Out: io.Discard, Err: io.Discard})
	}()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
}

// checkExperiments says what is wrong with a list of experiments.
func checkExperiments(t *testing.T, list []experiment.Experiment) (wrong []string) {
	t.Helper()
	var names []string
	for _, e := range list {
		if e.Title == "" || e.Source == "" || strings.Contains(e.Title+e.Source, "\n") {
			wrong = append(wrong, e.Name+": title and source must be one line each")
		}
		if slices.Contains(names, e.Name) {
			wrong = append(wrong, e.Name+": the name is taken")
		}
		names = append(names, e.Name)
		// Write says what names files can have.
		if err := experiment.Write(t.Context(), t.TempDir(), e.Name, experiment.Origin{}, &experiment.Result{Columns: []string{"a"}}); err != nil {
			wrong = append(wrong, err.Error())
		}
		// Binding panics when a flag is defined twice.
		if _, err := commandOf().parse(e, []string{"--help"}, io.Discard, false); !errors.Is(err, flag.ErrHelp) {
			wrong = append(wrong, err.Error())
		}
	}
	return wrong
}

func TestExperimentsCanBeRun(t *testing.T) {
	if wrong := checkExperiments(t, experiments); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	twice := []experiment.Experiment{echo(), echo(), {Name: "Table 3", Title: "a\nb", Source: "s", Bind: echo().Bind}}
	if wrong := checkExperiments(t, twice); len(wrong) != 3 {
		t.Errorf("found %q in a bad list, want 3 things", wrong)
	}
}

// draw leaves files that the demo reads, and says what is missing.
func TestDrawWritesFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "textures")
	bench := program{typed: "go run ./bench"}
	std := command.Streams{Out: io.Discard, Err: io.Discard}
	if err := bench.run(t.Context(), []string{"draw", "--kind", "textures", "--train", "30", "--test", "20", dir}, std); err != nil {
		t.Fatal(err)
	}
	if d, err := dataset.Load(t.Context(), dataset.Options{Source: dir}); err != nil || d.Train.Len() != 30 || d.Test.Len() != 20 {
		t.Errorf("%+v, %v", d, err)
	}
	var p *fl.ParamError
	if err := bench.run(t.Context(), []string{"draw", "--kind", "textures"}, std); !errors.As(err, &p) || p.Param != "arguments" || !strings.Contains(err.Error(), "one directory") {
		t.Errorf("no directory: %v", err)
	}
}
