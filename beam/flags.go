package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// settings are the flags.
type settings struct {
	rounds  list
	keys    string
	out     string
	digests bool
	verbose bool
	files   []string
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// bind adds the flags to the Beam SDK's flags. The SDK has its flags in package flag, and looks
// there for the flags that were set.
func (s *settings) bind(f *flag.FlagSet) {
	f.Var(&s.rounds, "round", "`file` with a complete round, see hushgrad round; may be given several times")
	f.StringVar(&s.keys, "keys", "", "public dictionary: a `file` with one key per line, for all rounds")
	f.StringVar(&s.out, "out", "", "`directory` for the results")
	f.BoolVar(&s.digests, "digests", false, "print the digest of every round, by which CSV files name it, and do nothing else")
	f.BoolVar(&s.verbose, "v", false, "print what the runner logs, and all of an error")
}

// parse parses the flags as all commands of the module do. It returns a *fl.ParamError of one line for
// a wrong flag, and pflag.ErrHelp after it has printed the help that was asked for.
func (s *settings) parse(sdk *flag.FlagSet, args []string, stdout io.Writer) error {
	f := pflag.NewFlagSet("beam", pflag.ContinueOnError)
	f.Usage = func() {
		fmt.Fprint(stdout, usage)
		command.PrintFlags(stdout, f)
	}
	f.AddGoFlagSet(sdk)
	if err := command.TwoDashes(f, args); err != nil {
		return err
	}
	err := f.ParseAll(args, func(one *pflag.Flag, value string) error {
		if err := sdk.Set(one.Name, value); err != nil {
			return fl.Invalid("--"+one.Name, value, "must be a value of the flag, see beam --help: %v", err)
		}
		return nil
	})
	var wrong *fl.ParamError
	switch {
	case errors.Is(err, pflag.ErrHelp), errors.As(err, &wrong):
		return err
	case err != nil:
		return command.FlagError(f, "beam", err)
	}
	s.files = f.Args()
	return sdk.Parse(nil) // which says that its flags are parsed
}
