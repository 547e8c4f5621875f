package main

import (
	"errors"
	"flag"

	"github.com/hushgrad/hushgrad/fl"
)

// parseFlags parses the flags of a command. A wrong flag is a *fl.ParamError, a
// request for help flag.ErrHelp.
func parseFlags(f *flag.FlagSet, args []string) error {
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fl.Invalid("flags", err.Error(), "see %s -help", f.Name())
}

// flagsOnly is parseFlags for a command without arguments.
func flagsOnly(f *flag.FlagSet, args []string) error {
	if err := parseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see %s -help", f.Name())
	}
	return nil
}
