package command

import (
	"errors"
	"flag"
	"io"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
)

// Parse parses the flags of a command, see Configurable for those that are not on the
// command line. It returns a *fl.ParamError of one line for a wrong flag, and flag.ErrHelp
// after it has printed the help that was asked for.
func Parse(f *flag.FlagSet, args []string) error {
	out, usage := f.Output(), f.Usage
	// The flag package prints the whole help after an error, which then is out of sight.
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	err := f.Parse(args)
	f.SetOutput(out)
	f.Usage = usage
	if errors.Is(err, flag.ErrHelp) {
		return f.Parse([]string{"-help"})
	}
	if err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: "); unknown {
			return fl.Invalid("flags", name, "must be a flag of the command, see %s -help", f.Name())
		}
		return fl.Invalid("flags", err, "see %s -help", f.Name())
	}
	return configure(f)
}

// ParseOnly is Parse for a command that takes no arguments.
func ParseOnly(f *flag.FlagSet, args []string) error {
	if err := Parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see %s -help", f.Name())
	}
	return nil
}

// Given says whether a flag was set, on the command line or otherwise.
func Given(f *flag.FlagSet, name string) (given bool) {
	f.Visit(func(g *flag.Flag) { given = given || g.Name == name })
	return given
}

// Unused returns a *fl.ParamError for the first of the named flags that was set, and nil
// when none was. Use it for flags that would be ignored: a caller who sets
// them expects something else. The reason follows "must not be given".
func Unused(f *flag.FlagSet, reason string, names ...string) error {
	for _, name := range names {
		if Given(f, name) {
			return fl.Invalid("-"+name, f.Lookup(name).Value.String(), "must not be given %s", reason)
		}
	}
	return nil
}
