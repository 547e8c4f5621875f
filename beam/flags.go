package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
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
	f.Init("beam", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the help, and errors by this command's own rules
	f.Usage = func() {}
	f.Var(&s.rounds, "round", "`file` with a complete round, see hushgrad round; may be given several times")
	f.StringVar(&s.keys, "keys", "", "public dictionary: a `file` with one key per line, for all rounds")
	f.StringVar(&s.out, "out", "", "`directory` for the results")
	f.BoolVar(&s.digests, "digests", false, "print the digest of every round, by which CSV files name it, and do nothing else")
	f.BoolVar(&s.verbose, "v", false, "print what the runner logs, and all of an error")
}

// parse parses the flags. It returns a *fl.ParamError of one line for a wrong flag, and
// pflag.ErrHelp after it has printed the help that was asked for.
func (s *settings) parse(f *flag.FlagSet, args []string, stdout io.Writer) error {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(stdout)
		fmt.Fprint(stdout, usage)
		f.PrintDefaults()
		return pflag.ErrHelp
	case err != nil:
		if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: "); unknown {
			return fl.Invalid("flags", name, "must be a flag of the command, see beam -help")
		}
		return fl.Invalid("flags", err, "see beam -help")
	}
	s.files = f.Args()
	return nil
}
