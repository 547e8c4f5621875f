package command

import (
	"errors"
	"flag"

	"github.com/hushgrad/hushgrad/fl"
)

// Parse parses the flags of a command. It returns a *fl.ParamError for a wrong flag and
// flag.ErrHelp for a request for help.
func Parse(f *flag.FlagSet, args []string) error {
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fl.Invalid("flags", err.Error(), "see %s -help", f.Name())
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
