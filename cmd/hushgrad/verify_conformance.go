package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/cmd/hushgrad/internal/conformance"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
)

const conformanceHelp = `Checks another implementation of the format of rounds and reports. COMMAND is its adapter:
a program that reads cases from standard input, one a line in JSON, and answers each with a
line of JSON on standard output. docs/conformance.md has the fields.

  hushgrad verify conformance -- python3 adapter.py

A line is printed for each case with a wrong answer, and then the number of cases by
subject. An adapter may answer that it does not support a case. The exit code is 1 for a
wrong answer, for an adapter that ended early, and where no case passed.
`

// errNotConforming is an adapter with a wrong answer. The verdict says which.
var errNotConforming = errors.New("the implementation does not conform")

// conformanceFlags are the flags of verify conformance.
type conformanceFlags struct {
	options conformance.Options
	output  output
	adapter []string
}

func newConformance() *cobra.Command {
	c := newJob("conformance [flags] -- COMMAND [ARGUMENTS]", "check another implementation of the report format", conformanceHelp, &conformanceFlags{})
	c.Args = func(c *cobra.Command, args []string) error {
		if at := c.ArgsLenAtDash(); len(args) == 0 || at != 0 {
			return fl.Invalid("arguments", fmt.Sprintf("%q", args), "must be --, the adapter's command and its arguments, see %s --help", c.CommandPath())
		}
		return nil
	}
	c.AddCommand(
		newCommand("answer", "answer cases as an adapter of this program's own code",
			"Reads cases from standard input and answers them by this program's own code, as the adapter of another implementation does. It is an example for one.",
			func(ctx context.Context, _ []string, std command.Streams) error {
				_, err := command.Await(ctx, func() (struct{}, error) { return struct{}{}, conformance.Serve(std.In, std.Out) })
				return err
			}),
		newCommand("vectors", "write the cases with their answers",
			"Writes the cases with their answers to standard output, one a line in JSON: golden vectors for tests. Cases of the subject encode have the probabilities that a report counts for +1 and for -1 at each coordinate.",
			func(ctx context.Context, _ []string, std command.Streams) error {
				return conformance.WriteVectors(command.Writer(ctx, std.Out))
			}))
	return c
}

func (v *conformanceFlags) bind(f *flag.FlagSet) {
	f.DurationVar(&v.options.Time, "case-time", 30*time.Second, "longest time that the adapter may take for one case")
	v.output.bind(f)
}

func (v *conformanceFlags) validate(f *flag.FlagSet) error {
	v.adapter = f.Args()
	return positive(limit{"--case-time", int64(v.options.Time)})
}

// run asks the adapter and prints the verdict.
func (v *conformanceFlags) run(ctx context.Context, std command.Streams) error {
	v.options.Stderr = std.Err
	v.options.Progress = progress.New(std.Err, "cases")
	verdict, err := conformance.Judge(ctx, v.adapter, v.options)
	v.options.Progress.Close()
	if err != nil {
		return err
	}
	if err := v.output.print(std.Out, verdict, func(w io.Writer) error { return printVerdict(w, verdict) }); err != nil {
		return err
	}
	switch {
	case verdict.Failed > 0:
		return fmt.Errorf("%w: %d of %d cases failed", errNotConforming, verdict.Failed, verdict.Cases)
	case verdict.Passed == 0:
		return fmt.Errorf("%w: no case passed", errNotConforming)
	}
	return nil
}

// printVerdict prints the failures and the cases by subject.
func printVerdict(w io.Writer, v conformance.Verdict) error {
	for _, f := range v.Failures {
		if _, err := fmt.Fprintf(w, "%s: got %s, want %s, see %s\n", f.Case, f.Got, f.Want, f.Where); err != nil {
			return err
		}
	}
	const row = "%8v%8v%13v  %s"
	text := fmt.Sprintf(row+"\n", "passed", "failed", "unsupported", "subject")
	for _, t := range v.Subjects {
		text += fmt.Sprintf(row+"\n", t.Passed, t.Failed, t.Unsupported, t.Subject)
	}
	text += fmt.Sprintf(row, v.Passed, v.Failed, v.Unsupported, fmt.Sprintf("of %d cases", v.Cases))
	if v.NotAsked > 0 {
		text += fmt.Sprintf(", %d not asked", v.NotAsked)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
