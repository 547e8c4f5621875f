package laboratory

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
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
	"github.com/hushgrad/hushgrad/internal/progress"
)

// benchRun is one run of an experiment with its flags.
type benchRun struct {
	experiment.Experiment
	env      experiment.Env
	run      experiment.Run
	out      string
	curves   string       // file
	points   []curvePoint // of it
	verdicts bool         // print no rows
	command  string       // does the same run again
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
	if err == nil && b.points != nil {
		err = beside(result, b.points, b.curves)
	}
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
func (p program) parse(e experiment.Experiment, args []string, stdout io.Writer, all bool) (*benchRun, error) {
	if slices.Contains(e.Without, experiment.FlagSeed) {
		e.Without = append(slices.Clone(e.Without), experiment.FlagSeeds)
	}
	b := &benchRun{Experiment: e}
	f := flag.NewFlagSet(p.typed+" "+e.Name, flag.ContinueOnError)
	f.SetOutput(stdout)
	f.Usage = func() {
		fmt.Fprintf(stdout, "Usage: %s %s [flags]\n\n%s\n%s\n\n", p.typed, e.Name, e.Title, e.Source)
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
	if !all {
		f.StringVar(&b.curves, "curves", "", "CSV `file` of curves of yours, drawn in the figure beside ours, with --out: lines of curve,x,y or curve,x,y,panel below that head; panels count from 1, and none is all")
	}
	b.run = e.Bind(f)
	if err := command.Parse(f, args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see %s %s --help", p.typed, e.Name)
	case b.env.Jobs < 1 || b.env.Jobs > maxJobs:
		return nil, fl.Invalid("--jobs", b.env.Jobs, "must be in [1, %d]", maxJobs)
	case !slices.Contains(e.Without, experiment.FlagSeeds) && (b.env.Seeds < 1 || b.env.Seeds > maxSeeds):
		return nil, fl.Invalid("--seeds", b.env.Seeds, "must be in [1, %d]", maxSeeds)
	case b.env.Repeats < 0 || b.env.Repeats > maxRepeats:
		return nil, fl.Invalid("--repeats", b.env.Repeats, "must be in [0, %d]", maxRepeats)
	}
	if b.curves != "" {
		if b.out == "" {
			return nil, fl.Invalid("--curves", b.curves, "needs --out, the directory of the figure")
		}
		var err error
		if b.points, err = readCurves(b.curves); err != nil {
			return nil, err
		}
	}
	if err := history.Writable("--out", b.out); err != nil {
		return nil, err
	}
	b.command = p.command(e, f)
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

// command returns the command line that gives the same numbers: the flags
// that were given, without those that numbers do not depend on, and the seed.
func (p program) command(e experiment.Experiment, f *flag.FlagSet) string {
	words := []string{p.typed, e.Name}
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
		values := []string{value}
		if given.Value.Type() == "stringArray" {
			values = given.Value.(flag.SliceValue).GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+given.Name, quoted(value))
		}
	})
	return strings.Join(words, " ")
}

// quoted is a value as a shell takes it for one word.
func quoted(value string) string {
	if plainWord.MatchString(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
