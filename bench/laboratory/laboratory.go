// Package laboratory is the command go run ./bench: it runs the experiments of the papers and prints their numbers
// beside ours. Use it in a program of your own to run the same experiments with your mechanism. Start with [Main].
package laboratory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
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
	"github.com/hushgrad/hushgrad/bench/tables"
	"github.com/hushgrad/hushgrad/bench/training"
	"github.com/hushgrad/hushgrad/bench/vectors"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// experiments are what the command can run, in the order of its list.
var experiments = slices.Concat(shufflesum.Experiments(), vectors.Experiments(), keyvalues.Experiments(), training.Experiments(), demands.Experiments(), attack.Experiments(), predictions.Experiments(), speed.Experiments(), serving.Experiments(), scale.Experiments(), pretrain.Experiments(), heldout.Experiments(), firststeps.Experiments(), tables.Experiments())

// Main runs the experiment that the command line names, and ends the process. typed is what a reader types for this
// program, such as "go run .": it is in help and in records. Every mechanism that the program imports can stand beside an
// experiment's own: --with.
func Main(typed string) {
	command.Main("bench", func(ctx context.Context, args []string, std command.Streams) error {
		return program{typed, experiments}.run(ctx, args, std)
	})
}

// program is a command with experiments.
type program struct {
	typed string // to run it
	list  []experiment.Experiment
}

// run lists the experiments, or runs one. A claim that does not hold is a result
// and no error.
func (p program) run(ctx context.Context, args []string, std command.Streams) error {
	if len(args) == 0 {
		return p.listExperiments(std.Out)
	}
	switch args[0] {
	case "help", "-h", "--help":
		if len(args) > 1 {
			return fl.Invalid("arguments", args[1], "must come before --help: %s %s --help", p.typed, args[1])
		}
		return p.listExperiments(std.Out)
	}
	switch args[0] {
	case "all":
		return p.runAll(ctx, args[1:], std)
	case "verdicts":
		return p.judge(ctx, args[1:], std)
	case "pages":
		return p.writePages(ctx, args[1:], std)
	case "draw":
		return p.drawPictures(ctx, args[1:], std)
	}
	for _, e := range p.list {
		if e.Name == args[0] {
			b, err := p.parse(e, args[1:], std.Out, false)
			if err != nil {
				return err
			}
			return b.do(ctx, std)
		}
	}
	names := make([]string, len(p.list))
	for i, e := range p.list {
		names[i] = e.Name
	}
	return fl.Invalid("experiment", args[0], "must be one of %s%s", strings.Join(names, ", "), command.Meant(command.Similar(names, args[0])))
}

func (p program) listExperiments(stdout io.Writer) error {
	fmt.Fprintf(stdout, `Usage: %[1]s NAME [flags]
       %[1]s all [flags]
       %[1]s verdicts [flags]
       %[1]s pages [--check]
       %[1]s draw --kind letters DIR

Runs an experiment, or all of them with the flags they share, and says which claims of
its paper hold in the numbers. With --out, an interrupted run goes on where it was.
verdicts runs all experiments of the papers, with five seeds each, and prints what is found for all of them.
pages writes the numbers of README.md, docs/*.md and docs/results/*.md from docs/results.
draw writes pictures that nothing was chosen on, as files like MNIST's.
%[1]s NAME --help lists the flags of an experiment.

`, p.typed)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	for _, of := range []struct {
		kind experiment.Kind
		head string
	}{{experiment.OfPaper, "Tables and figures of the papers:"}, {experiment.Ours, "Measurements of ours:"}, {experiment.ForMaintainers, "For maintainers:"}} {
		empty := true
		for _, e := range p.list {
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
func (p program) writePages(ctx context.Context, args []string, std command.Streams) error {
	f := flag.NewFlagSet(p.typed+" pages", flag.ContinueOnError)
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

// everything has the flags that all experiments have.
var everything = experiment.Experiment{
	Name: "all", Title: "All experiments, with the flags that they share", Source: "See the list of experiments",
	Bind: func(*flag.FlagSet) experiment.Run { return nil },
}

// runAll runs every experiment that is neither alone nor part of another one in the list with the same
// flags, which must be flags of all. An experiment without one of the common flags runs
// without it. One that fails does not keep the others from running.
func (p program) runAll(ctx context.Context, args []string, std command.Streams) error {
	if _, err := p.parse(everything, args, std.Out, true); err != nil {
		return err
	}
	var runs []*benchRun
	for _, e := range p.list {
		if e.Alone || slices.ContainsFunc(p.list, func(whole experiment.Experiment) bool { return whole.Name == e.PartOf }) {
			continue
		}
		b, err := p.parse(e, args, std.Out, true)
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
func (p program) judge(ctx context.Context, args []string, std command.Streams) error {
	all := everything
	all.Name = "verdicts"
	all.Title = fmt.Sprintf("What is found about the papers' claims for all of several seeds; --seeds is %d if it is not given", ownSeeds)
	if _, err := p.parse(all, args, std.Out, true); err != nil {
		return err
	}
	started := time.Now()
	var failed error
	for _, e := range p.list {
		if e.Kind != experiment.OfPaper || slices.ContainsFunc(p.list, func(whole experiment.Experiment) bool { return whole.Name == e.PartOf }) {
			continue
		}
		b, err := p.parse(e, slices.Concat([]string{fmt.Sprintf("--%s=%d", experiment.FlagSeeds, ownSeeds)}, e.Settings, args), std.Out, true)
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
