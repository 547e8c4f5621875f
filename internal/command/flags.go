package command

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// Parse parses the flags of a command. It returns a *fl.ParamError of one line for a wrong
// flag, and flag.ErrHelp after it has printed the help that was asked for.
func Parse(f *flag.FlagSet, args []string) error {
	if f.Usage == nil {
		f.Usage = func() {
			fmt.Fprintf(f.Output(), "Usage of %s:\n", f.Name())
			PrintFlags(f.Output(), f)
		}
	}
	if err := TwoDashes(f, args); err != nil {
		return err
	}
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return FlagError(f, f.Name(), err)
}

// ParseOnly is Parse for a command that takes no arguments.
func ParseOnly(f *flag.FlagSet, args []string) error {
	if err := Parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fl.Invalid("arguments", f.Arg(0), "only flags are allowed, see %s --help", f.Name())
	}
	return nil
}

// TwoDashes returns a *fl.ParamError for the first argument that is the name of a flag behind one dash: pflag reads
// its letters as short forms. What follows -- is no flag.
func TwoDashes(f *flag.FlagSet, args []string) error {
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, dash := strings.CutPrefix(arg, "-")
		name, _, _ = strings.Cut(name, "=")
		if dash && len(name) > 1 && (f.Lookup(name) != nil || name == helpFlag) {
			return fl.Invalid("flags", "-"+name, "must be written with two dashes: --%s", name)
		}
	}
	return nil
}

// kinds say what the values of pflag's types must be.
var kinds = map[string]string{
	"bool": "must be true or false", "int": "must be a whole number", "int64": "must be a whole number",
	"uint64": "must be a whole number of at least 0", "float64": "must be a number", "duration": "must be a time with its unit, such as 90s",
}

// FlagError returns an error of pflag as one line about a flag of a command. It asks whether a flag like an unknown one, or a
// value like one that a flag of OneOf does not take, was meant.
func FlagError(f *flag.FlagSet, command string, err error) error {
	var (
		unknown *flag.NotExistError
		missing *flag.ValueRequiredError
		wrong   *flag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		name := writtenAs(unknown)
		return fl.Invalid("flags", name, "must be a flag of the command%s, see %s --help", meantFlag(f, name), command)
	case errors.As(err, &missing):
		return fl.Invalid("--"+missing.GetFlag().Name, "", "needs a value, see %s --help", command)
	case errors.As(err, &wrong):
		return fl.Invalid("--"+wrong.GetFlag().Name, wrong.GetValue(), "%s, see %s --help", reason(wrong.GetFlag(), wrong.GetValue(), errors.Unwrap(wrong)), command)
	}
	return fl.Invalid("flags", err.Error(), "must be --name or --name=value, see %s --help", command)
}

// meantFlag asks whether another flag was meant by one that a command does not have.
func meantFlag(f *flag.FlagSet, written string) string {
	var meant []string
	for _, name := range similarFlags(f, strings.TrimLeft(written, "-")) {
		meant = append(meant, "--"+name)
	}
	return Meant(meant)
}

// writtenAs returns a flag that a command does not have as it was written, with its dashes.
func writtenAs(err *flag.NotExistError) string {
	letters, _, _ := strings.Cut(err.GetSpecifiedShortnames(), "=")
	if letters == "" {
		return "--" + err.GetSpecifiedName()
	}
	return "-" + letters
}

// reason says why a flag does not take a value, and what to type where that is clear.
func reason(of *flag.Flag, text string, err error) string {
	kind, known := kinds[of.Value.Type()]
	switch {
	case !known:
		return err.Error() + Meant(Similar(Choices(of), text))
	case errors.Is(err, strconv.ErrRange):
		return kind + " in its range"
	}
	if meant := asNumber(of.Value.Type(), text); meant != "" {
		return kind + ": type " + meant
	}
	return kind
}

// Meant asks whether one of the names was meant. It returns nothing for no names.
func Meant(names []string) string {
	if len(names) == 0 {
		return ""
	}
	last := len(names) - 1
	if last == 0 {
		return fmt.Sprintf(" (did you mean %s?)", names[0])
	}
	return fmt.Sprintf(" (did you mean %s or %s?)", strings.Join(names[:last], ", "), names[last])
}

// capital is where a word begins within the name of a field.
var capital = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// OfFlag returns an error about a parameter as an error about the flag that sets it, without the names of packages before it,
// and any other error as it is. Parameters have the names of flags, but for those in others.
func OfFlag(f *flag.FlagSet, err error, others map[string]string) error {
	p, ok := errors.AsType[*fl.ParamError](err)
	if !ok {
		return err
	}
	name, renamed := others[p.Param]
	if !renamed {
		name = plain(capital.ReplaceAllString(p.Param, "$1-$2"))
	}
	if f.Lookup(name) == nil {
		return err
	}
	return &fl.ParamError{Param: "--" + name, Got: p.Got, Rule: p.Rule}
}

// Given says whether a flag was set, on the command line or otherwise.
func Given(f *flag.FlagSet, name string) bool { return f.Changed(name) }

// Unused returns a *fl.ParamError for the first of the named flags that was set, and nil
// when none was. Use it for flags that would be ignored: a caller who sets
// them expects something else. The reason follows "must not be given".
func Unused(f *flag.FlagSet, reason string, names ...string) error {
	for _, name := range names {
		if Given(f, name) {
			return fl.Invalid("--"+name, f.Lookup(name).Value.String(), "must not be given %s", reason)
		}
	}
	return nil
}
