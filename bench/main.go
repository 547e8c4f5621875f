// Command bench runs the experiments of the papers and prints their numbers beside ours.
// Use it to check a claim or to measure a change. Start with go run ./bench, which lists
// the experiments.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/histograms"
	"github.com/hushgrad/hushgrad/bench/keyvalues"
	"github.com/hushgrad/hushgrad/bench/shufflesum"
	"github.com/hushgrad/hushgrad/bench/training"
	"github.com/hushgrad/hushgrad/bench/vectors"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// experiments are what the command can run, in the order of its list.
var experiments = slices.Concat(shufflesum.Experiments(), vectors.Experiments(), keyvalues.Experiments(), training.Experiments(), histograms.Experiments())

func main() {
	command.Main("bench", func(ctx context.Context, args []string, std command.Streams) error {
		return bench(ctx, experiments, args, std)
	})
}

// bench lists the experiments, or runs one. A claim that does not hold is a result
// and no error.
func bench(ctx context.Context, list []experiment.Experiment, args []string, std command.Streams) error {
	if len(args) == 0 {
		return listExperiments(list, std.Out)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		return listExperiments(list, std.Out)
	}
	if args[0] == "all" {
		return runAll(ctx, list, args[1:], std)
	}
	for _, e := range list {
		if e.Name == args[0] {
			return runExperiment(ctx, e, args[1:], std)
		}
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name
	}
	return fl.Invalid("experiment", args[0], "must be one of %s", strings.Join(names, ", "))
}

func listExperiments(list []experiment.Experiment, stdout io.Writer) error {
	fmt.Fprint(stdout, `Usage: go run ./bench NAME [flags]
       go run ./bench all [flags]

Runs an experiment, or all of them with the flags they share, and says which claims of
its paper hold in the numbers. With -out, an interrupted run goes on where it was.
go run ./bench NAME -help lists the flags of an experiment.

`)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Title)
	}
	return w.Flush()
}

// runAll runs every experiment that is not part of another one in the list with the same
// flags, which must be flags of all. One that fails does not keep the others from running.
func runAll(ctx context.Context, list []experiment.Experiment, args []string, std command.Streams) error {
	list = slices.DeleteFunc(slices.Clone(list), func(e experiment.Experiment) bool {
		return slices.ContainsFunc(list, func(whole experiment.Experiment) bool { return whole.Name == e.PartOf })
	})
	var failed error
	for i, e := range list {
		if i == 0 { // flags that are wrong are wrong once
			if _, err := parseBench(e, args, std.Err); err != nil {
				return err
			}
		}
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		if err := runExperiment(ctx, e, args, std); err != nil {
			failed = errors.Join(failed, err)
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

func runExperiment(ctx context.Context, e experiment.Experiment, args []string, std command.Streams) error {
	b, err := parseBench(e, args, std.Err)
	if err != nil {
		return err
	}
	b.env.Progress = progress.New(std.Err)
	if b.out != "" {
		if err := os.MkdirAll(b.out, 0o755); err != nil {
			return err
		}
		if b.env.Checkpoint, err = experiment.OpenCheckpoint(filepath.Join(b.out, e.Name+".checkpoint"), b.command); err != nil {
			return err
		}
	}
	result, err := b.run(ctx, b.env)
	b.env.Progress.Close()
	if err = errors.Join(err, b.env.Checkpoint.Close(err == nil)); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	if result.Plot != nil && result.Plot.Title == "" {
		result.Plot.Title = e.Title
	}
	fmt.Fprintf(std.Out, "%s\n%s\n\n", e.Title, e.Source)
	if err := experiment.Print(std.Out, result); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	if b.out == "" {
		return nil
	}
	if err := experiment.Write(b.out, e.Name, b.command, result); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	files := []string{e.Name + ".csv", e.Name + ".json"}
	if result.Plot != nil {
		files = append(files, e.Name+".png")
	}
	fmt.Fprintf(std.Out, "\nWritten to %s: %s\n", b.out, strings.Join(files, ", "))
	return nil
}

// benchRun is one run of an experiment with its flags.
type benchRun struct {
	env     experiment.Env
	run     experiment.Run
	out     string
	command string // does the same run again
}

func parseBench(e experiment.Experiment, args []string, stderr io.Writer) (*benchRun, error) {
	b := &benchRun{}
	f := flag.NewFlagSet("go run ./bench "+e.Name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: go run ./bench %s [flags]\n\n%s\n%s\n\n", e.Name, e.Title, e.Source)
		f.PrintDefaults()
	}
	f.StringVar(&b.env.Data, "data", "", "`directory` with the data set's files; empty: the experiment's own default")
	f.IntVar(&b.env.Jobs, "jobs", runtime.GOMAXPROCS(0), "computations at the same time; the numbers do not depend on it")
	f.StringVar(&b.out, "out", "", "`directory` for "+e.Name+".csv, .json and .png; empty: none are written")
	f.BoolVar(&b.env.Quick, "quick", false, "a smaller run of the same form, for a first look")
	f.IntVar(&b.env.Repeats, "repeats", 0, "repeats of every setting; 0: the experiment's own number")
	f.Uint64Var(&b.env.Seed, "seed", 1, "seed of all randomness")
	b.run = e.Bind(f)
	if err := command.Parse(f, args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see go run ./bench %s -help", e.Name)
	case b.env.Jobs < 1:
		return nil, fl.Invalid("-jobs", b.env.Jobs, "must be at least 1")
	case b.env.Repeats < 0:
		return nil, fl.Invalid("-repeats", b.env.Repeats, "must be at least 0")
	}
	b.command = benchCommand(e.Name, f)
	return b, nil
}

// plainWord needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,+@%-]+$`)

// benchCommand returns the command line that gives the same numbers: the flags
// that were given, without those that numbers do not depend on, and the seed.
func benchCommand(name string, f *flag.FlagSet) string {
	words := []string{"go run ./bench", name, "-seed", f.Lookup("seed").Value.String()}
	f.Visit(func(given *flag.Flag) {
		switch given.Name {
		case "jobs", "out", "seed":
			return
		}
		value := given.Value.String()
		if b, ok := given.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			words = append(words, "-"+given.Name+"="+value)
			return
		}
		if !plainWord.MatchString(value) {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, "-"+given.Name, value)
	})
	return strings.Join(words, " ")
}
