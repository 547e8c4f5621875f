// Command bench runs the experiments of the papers and prints their numbers beside ours.
// Use it to check a claim or to measure a change. Start with go run ./bench, which lists
// the experiments.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/attack"
	"github.com/hushgrad/hushgrad/bench/demands"
	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/firststeps"
	"github.com/hushgrad/hushgrad/bench/heldout"
	"github.com/hushgrad/hushgrad/bench/keyvalues"
	"github.com/hushgrad/hushgrad/bench/pages"
	"github.com/hushgrad/hushgrad/bench/predictions"
	"github.com/hushgrad/hushgrad/bench/pretrain"
	"github.com/hushgrad/hushgrad/bench/scale"
	"github.com/hushgrad/hushgrad/bench/serving"
	"github.com/hushgrad/hushgrad/bench/shufflesum"
	"github.com/hushgrad/hushgrad/bench/speed"
	"github.com/hushgrad/hushgrad/bench/training"
	"github.com/hushgrad/hushgrad/bench/vectors"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// experiments are what the command can run, in the order of its list.
var experiments = slices.Concat(shufflesum.Experiments(), vectors.Experiments(), keyvalues.Experiments(), training.Experiments(), demands.Experiments(), attack.Experiments(), predictions.Experiments(), speed.Experiments(), serving.Experiments(), scale.Experiments(), pretrain.Experiments(), heldout.Experiments(), firststeps.Experiments())

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
	case "help", "-h", "--help":
		if len(args) > 1 {
			return fl.Invalid("arguments", args[1], "must come before --help: go run ./bench %s --help", args[1])
		}
		return listExperiments(list, std.Out)
	}
	switch args[0] {
	case "all":
		return runAll(ctx, list, args[1:], std)
	case "verdicts":
		return judge(ctx, list, args[1:], std)
	case "pages":
		return writePages(ctx, args[1:], std)
	case "draw":
		return drawPictures(ctx, args[1:], std)
	}
	for _, e := range list {
		if e.Name == args[0] {
			b, err := parseBench(e, args[1:], std.Out, false)
			if err != nil {
				return err
			}
			return b.do(ctx, std)
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
       go run ./bench verdicts [flags]
       go run ./bench pages [--check]
       go run ./bench draw --kind letters DIR

Runs an experiment, or all of them with the flags they share, and says which claims of
its paper hold in the numbers. With --out, an interrupted run goes on where it was.
verdicts runs all experiments of the papers, with five seeds each, and prints what is found for all of them.
pages writes the numbers of README.md, docs/*.md and docs/results/*.md from docs/results.
draw writes pictures that nothing was chosen on, as files like MNIST's.
go run ./bench NAME --help lists the flags of an experiment.

`)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, of := range []struct {
		kind experiment.Kind
		head string
	}{{experiment.OfPaper, "Tables and figures of the papers:"}, {experiment.Ours, "Measurements of ours:"}, {experiment.ForMaintainers, "For maintainers:"}} {
		empty := true
		for _, e := range list {
			if e.Kind != of.kind {
				continue
			}
			if empty {
				fmt.Fprintln(w, of.head)
				empty = false
			}
			fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Title)
		}
	}
	return w.Flush()
}

// writePages makes the numbers of the pages of the module in this directory.
func writePages(ctx context.Context, args []string, std command.Streams) error {
	f := flag.NewFlagSet("go run ./bench pages", flag.ContinueOnError)
	f.SetOutput(std.Out)
	check := f.Bool("check", false, "write nothing; fail when a page differs from what the results give")
	if err := command.ParseOnly(f, args); err != nil {
		return err
	}
	if *check {
		return pages.Check(".")
	}
	changed, err := pages.Write(ctx, ".")
	for _, path := range changed {
		fmt.Fprintln(std.Out, "Written:", path)
	}
	return err
}

// drawPictures writes held-out pictures as files.
func drawPictures(ctx context.Context, args []string, std command.Streams) error {
	o := heldout.Options{}
	f := flag.NewFlagSet("go run ./bench draw", flag.ContinueOnError)
	f.SetOutput(std.Out)
	f.Usage = func() {
		fmt.Fprint(std.Out, "Usage: go run ./bench draw [flags] DIR\n\nWrites pictures that nothing of this module was chosen on, as the four files of MNIST, into a directory.\n\n")
		command.PrintFlags(std.Out, f)
	}
	f.StringVar(&o.Kind, "kind", dataset.Letters, "what is on the pictures: "+strings.Join(heldout.Kinds(), ", "))
	f.IntVar(&o.Train, "train", dataset.Pictures, "training pictures, which clients hold")
	f.IntVar(&o.Test, "test", 10_000, "test pictures")
	f.Float64Var(&o.Skew, "skew", 0, "class i of the training pictures is (i+1)^skew times as rare as class 0; 0: all are as likely")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of all randomness")
	f.StringVar(&o.Fonts, "fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fl.Invalid("arguments", strings.Join(f.Args(), " "), "must be one directory: go run ./bench draw --kind letters DIR")
	}
	var err error
	if o.Fonts, err = pretrain.FontCache(o.Fonts); err != nil {
		return err
	}
	data, err := heldout.Draw(ctx, o)
	if err != nil {
		return err
	}
	return training.Write(f.Arg(0), data)
}

// everything has the flags that all experiments have.
var everything = experiment.Experiment{
	Name: "all", Title: "All experiments, with the flags that they share", Source: "see go run ./bench",
	Bind: func(*flag.FlagSet) experiment.Run { return nil },
}

// runAll runs every experiment that is neither alone nor part of another one in the list with the same
// flags, which must be flags of all. An experiment without one of the common flags runs
// without it. One that fails does not keep the others from running.
func runAll(ctx context.Context, list []experiment.Experiment, args []string, std command.Streams) error {
	if _, err := parseBench(everything, args, std.Out, true); err != nil {
		return err
	}
	var runs []*benchRun
	for _, e := range list {
		if e.Alone || slices.ContainsFunc(list, func(whole experiment.Experiment) bool { return whole.Name == e.PartOf }) {
			continue
		}
		b, err := parseBench(e, args, std.Out, true)
		if err != nil {
			return err
		}
		runs = append(runs, b)
	}
	var failed error
	for i, b := range runs {
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		if err := b.do(ctx, std); err != nil {
			failed = errors.Join(failed, err)
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// ownSeeds is how many seeds verdicts are judged by.
const ownSeeds = 5

// judge runs every experiment of a paper with several seeds, at the paper's settings, and prints the verdicts and
// how long they took. An experiment's files go into a directory of its own.
func judge(ctx context.Context, list []experiment.Experiment, args []string, std command.Streams) error {
	all := everything
	all.Name = "verdicts"
	all.Title = fmt.Sprintf("What is found about the papers' claims for all of several seeds; --seeds is %d if it is not given", ownSeeds)
	if _, err := parseBench(all, args, std.Out, true); err != nil {
		return err
	}
	started := time.Now()
	var failed error
	for _, e := range list {
		if e.Kind != experiment.OfPaper || slices.ContainsFunc(list, func(whole experiment.Experiment) bool { return whole.Name == e.PartOf }) {
			continue
		}
		b, err := parseBench(e, slices.Concat([]string{fmt.Sprintf("--%s=%d", experiment.FlagSeeds, ownSeeds)}, e.Settings, args), std.Out, true)
		if err != nil {
			return err
		}
		b.verdicts = true
		if b.out != "" {
			b.out = filepath.Join(b.out, e.Name)
		}
		failed = errors.Join(failed, b.do(ctx, std))
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	fmt.Fprintf(std.Out, "All verdicts took %s.\n", time.Since(started).Round(time.Second))
	return failed
}

// benchRun is one run of an experiment with its flags.
type benchRun struct {
	experiment.Experiment
	env      experiment.Env
	run      experiment.Run
	out      string
	verdicts bool   // print no rows
	command  string // does the same run again
}

// seeds runs the experiment with every seed and puts the results together.
func (b *benchRun) seeds(ctx context.Context) (*experiment.Result, error) {
	if b.env.Seeds <= 1 {
		return b.run(ctx, b.env)
	}
	var all []*experiment.Result
	for i := range b.env.Seeds {
		env := b.env
		env.Seed += uint64(i)
		env.Checkpoint = env.Checkpoint.Under(fmt.Sprintf("seed %d: ", env.Seed))
		r, err := b.run(ctx, env)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	r, err := experiment.OverSeeds(all)
	if err == nil {
		r.Notes = append(r.Notes, fmt.Sprintf("The rows are the rows of seed %d. Verdicts are over %d seeds, each with data of its own.", b.env.Seed, b.env.Seeds))
	}
	return r, err
}

// do runs the experiment, prints what it found and writes the files.
func (b *benchRun) do(ctx context.Context, std command.Streams) (err error) {
	b.env.Progress = progress.New(std.Err, b.Name)
	if b.out != "" {
		if err := os.MkdirAll(b.out, 0o755); err != nil {
			return err
		}
		if b.env.Checkpoint, err = experiment.OpenCheckpoint(filepath.Join(b.out, b.Name+".checkpoint"), b.command); err != nil {
			return err
		}
	}
	started := time.Now()
	result, err := b.seeds(ctx)
	b.env.Progress.Close()
	if err = errors.Join(err, b.env.Checkpoint.Close(err == nil)); err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	result.Seconds = b.env.Checkpoint.Earlier() + time.Since(started).Seconds()
	if result.Quick = b.env.Quick; result.Quick {
		result.Notes = append(result.Notes, "This was a quick run at smaller settings than the claims are about. It decides none of them.")
	}
	if result.Plot != nil && result.Plot.Title == "" {
		result.Plot.Title = b.Title
	}
	show := experiment.Print
	if b.verdicts {
		show = experiment.PrintVerdicts
	}
	fmt.Fprintf(std.Out, "%s\n%s\n\n", b.Title, b.Source)
	if err := show(std.Out, result); err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	if b.verdicts {
		fmt.Fprintf(std.Out, "\n%s took %s.\n\n", b.Name, time.Duration(result.Seconds*float64(time.Second)).Round(time.Second))
	}
	if b.out == "" {
		return nil
	}
	if err := experiment.Write(ctx, b.out, b.Name, experiment.Here(ctx, b.command), result); err != nil {
		return fmt.Errorf("%s: %w", b.Name, err)
	}
	files := []string{b.Name + ".csv", b.Name + ".json"}
	if result.Plot != nil {
		files = append(files, b.Name+".png", b.Name+".svg", b.Name+".pdf")
	}
	fmt.Fprintf(std.Out, "\nWritten to %s: %s\n", b.out, strings.Join(files, ", "))
	return nil
}

// parseBench reads the flags of an experiment. With all they are the flags of a run of all
// experiments: the common flags that this experiment is without are there and do nothing.
func parseBench(e experiment.Experiment, args []string, stdout io.Writer, all bool) (*benchRun, error) {
	if slices.Contains(e.Without, experiment.FlagSeed) {
		e.Without = append(slices.Clone(e.Without), experiment.FlagSeeds)
	}
	b := &benchRun{Experiment: e}
	f := flag.NewFlagSet("go run ./bench "+e.Name, flag.ContinueOnError)
	f.SetOutput(stdout)
	f.Usage = func() {
		fmt.Fprintf(stdout, "Usage: go run ./bench %s [flags]\n\n%s\n%s\n\n", e.Name, e.Title, e.Source)
		command.PrintFlags(stdout, f)
	}
	f.IntVar(&b.env.Jobs, "jobs", runtime.GOMAXPROCS(0), "computations at the same time; the numbers do not depend on it")
	f.StringVar(&b.out, "out", "", "`directory` for "+e.Name+".csv and .json, and for .png, .svg and .pdf where there is a picture; empty: none are written")
	for name, bind := range map[string]func(env *experiment.Env){
		experiment.FlagData: func(env *experiment.Env) {
			f.StringVar(&env.Data, experiment.FlagData, "", cmp.Or(e.DataHelp, "`directory` with the four MNIST files, download for MNIST from the cache or the network, or textures for generated clothes, shoes and bags; empty: generated digits"))
		},
		experiment.FlagQuick: func(env *experiment.Env) {
			f.BoolVar(&env.Quick, experiment.FlagQuick, false, "a smaller run of the same form, for a first look")
		},
		experiment.FlagRepeats: func(env *experiment.Env) {
			f.IntVar(&env.Repeats, experiment.FlagRepeats, 0, "repeats of every setting; 0: the experiment's own number")
		},
		experiment.FlagSeed: func(env *experiment.Env) {
			f.Uint64Var(&env.Seed, experiment.FlagSeed, 1, "seed of all randomness")
		},
		experiment.FlagSeeds: func(env *experiment.Env) {
			f.IntVar(&env.Seeds, experiment.FlagSeeds, 1, "seeds from --seed on; verdicts are over all seeds, and rows are the first seed's")
		},
	} {
		if !slices.Contains(e.Without, name) {
			bind(&b.env)
		} else if all {
			bind(&experiment.Env{})
		}
	}
	b.run = e.Bind(f)
	if err := command.Parse(f, args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see go run ./bench %s --help", e.Name)
	case b.env.Jobs < 1 || b.env.Jobs > maxJobs:
		return nil, fl.Invalid("--jobs", b.env.Jobs, "must be in [1, %d]", maxJobs)
	case !slices.Contains(e.Without, experiment.FlagSeeds) && (b.env.Seeds < 1 || b.env.Seeds > maxSeeds):
		return nil, fl.Invalid("--seeds", b.env.Seeds, "must be in [1, %d]", maxSeeds)
	case b.env.Repeats < 0 || b.env.Repeats > maxRepeats:
		return nil, fl.Invalid("--repeats", b.env.Repeats, "must be in [0, %d]", maxRepeats)
	}
	b.command = benchCommand(e, f)
	return b, nil
}

// These keep the memory of a run in bounds.
const (
	maxSeeds   = 1000
	maxJobs    = 1024
	maxRepeats = 100_000
)

// plainWord needs no quotes in a shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,+@%-]+$`)

// benchCommand returns the command line that gives the same numbers: the flags
// that were given, without those that numbers do not depend on, and the seed.
func benchCommand(e experiment.Experiment, f *flag.FlagSet) string {
	words := []string{"go run ./bench", e.Name}
	if !slices.Contains(e.Without, experiment.FlagSeed) {
		words = append(words, "--seed", f.Lookup(experiment.FlagSeed).Value.String())
	}
	f.Visit(func(given *flag.Flag) {
		left := slices.Concat([]string{"jobs", "out", experiment.FlagSeed}, e.Without, e.Aside)
		if slices.Contains(left, given.Name) {
			return
		}
		value := given.Value.String()
		if b, ok := given.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			words = append(words, "--"+given.Name+"="+value)
			return
		}
		if !plainWord.MatchString(value) {
			value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
		words = append(words, "--"+given.Name, value)
	})
	return strings.Join(words, " ")
}
