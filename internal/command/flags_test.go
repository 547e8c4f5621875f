package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args        []string
		param, only string // of the error of Parse and of ParseOnly; "" for none
	}{
		{nil, "", ""}, {[]string{"--n=1"}, "", ""}, {[]string{"--m=1"}, "flags", "flags"}, {[]string{"x"}, "", "arguments"},
	} {
		for want, parse := range map[string]func(*flag.FlagSet, []string) error{c.param: Parse, c.only: ParseOnly} {
			f := flag.NewFlagSet("name", flag.ContinueOnError)
			f.SetOutput(&bytes.Buffer{})
			f.Int("n", 0, "")
			if c.param == c.only {
				parse = ParseOnly
			}
			err := parse(f, c.args)
			var p *fl.ParamError
			if (err == nil) != (want == "") || err != nil && (!errors.As(err, &p) || p.Param != want) {
				t.Errorf("%q: error %v, want one about %q", c.args, err, want)
			}
		}
	}
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	f.SetOutput(&bytes.Buffer{})
	if err := Parse(f, []string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: error %v", err)
	}
}

// A wrong flag is one line that names it and the help; only a request for help prints that.
func TestAWrongFlagPrintsNoHelp(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, c := range []struct{ arg, says string }{
			{"--m=1", `got "--m", rule: must be a flag of the command`}, {"--n=many", `--n: got "many", rule: must be a whole number, see`}, {"--n", `--n: got "", rule: needs a value, see`}, {"--help", ""},
		} {
			var out bytes.Buffer
			f := flag.NewFlagSet("name", flag.ContinueOnError)
			f.SetOutput(&out)
			if own {
				f.Usage = func() { fmt.Fprintln(&out, "a number") }
			}
			f.Int("n", 0, "a number")
			err := Parse(f, []string{c.arg})
			if c.says == "" {
				if !errors.Is(err, flag.ErrHelp) || strings.Count(out.String(), "a number") != 1 {
					t.Errorf("%s: error %v, printed %q", c.arg, err, out.String())
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasSuffix(err.Error(), "see name --help") || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
				t.Errorf("%s: error %v, printed %q", c.arg, err, out.String())
			}
		}
	}
}

func TestUnused(t *testing.T) {
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Int("n", 5, "")
	f.Int("m", 5, "")
	if err := Parse(f, []string{"--m=5"}); err != nil {
		t.Fatal(err)
	}
	if err := Unused(f, "with x", "n"); err != nil || Given(f, "n") || !Given(f, "m") {
		t.Errorf("error %v, given: %t and %t", err, Given(f, "n"), Given(f, "m"))
	}
	var p *fl.ParamError
	if err := Unused(f, "with x", "n", "m"); !errors.As(err, &p) || err.Error() != `--m: got "5", rule: must not be given with x` {
		t.Errorf("a flag that has its default: error %v", err)
	}
}

// One dash in front of a long name is one line that says how the flag is written, and no flag is set.
func TestOneDashIsRefused(t *testing.T) {
	for _, c := range []struct{ line, name string }{
		{"-number 1", "number"}, {"-number=1", "number"}, {"-on", "on"}, {"--on -number 1", "number"}, {"word -number 1", "number"},
		{"-output json", "output"}, {"-help", "help"}, // which begin with a short form
		{"--number -3", ""}, {"--number=-3", ""}, {"-o json", ""}, {"-ojson", ""}, {"-o=json", ""}, {"-", ""}, {"-- -number 1", ""}, {"--output=-on", ""},
	} {
		var out bytes.Buffer
		f := flag.NewFlagSet("name", flag.ContinueOnError)
		f.SetOutput(&out)
		f.Int("number", 0, "")
		f.Bool("on", false, "")
		f.StringP("output", "o", "", "")
		err := Parse(f, strings.Fields(c.line))
		want := fmt.Sprintf(`flags: got "-%s", rule: must be written with two dashes: --%s`, c.name, c.name)
		var p *fl.ParamError
		switch {
		case c.name == "" && err != nil:
			t.Errorf("%q: error %v", c.line, err)
		case c.name != "" && (!errors.As(err, &p) || err.Error() != want || f.NFlag() > 0 || out.Len() > 0):
			t.Errorf("%q: error %v, %d flags are set, printed %q, want the error %q", c.line, err, f.NFlag(), out.String(), want)
		}
	}
}

// An unknown flag is named as it was written.
func TestUnknownFlagsKeepTheirDashes(t *testing.T) {
	for line, want := range map[string]string{"--wrod": "--wrod", "--wrod=1": "--wrod", "-wrod": "-wrod", "-wrod=1": "-wrod", "-w": "-w"} {
		err := Parse(flag.NewFlagSet("name", flag.ContinueOnError), []string{line})
		if says := `flags: got "` + want + `", rule: must be a flag of the command, see name --help`; err == nil || err.Error() != says {
			t.Errorf("%s: error %v, want %q", line, err, says)
		}
	}
}

// An error about a field is one about the flag that sets it, where there is one.
func TestOfFlag(t *testing.T) {
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	for _, name := range []string{"min-reports", "max-message-bytes", "lr"} {
		f.Int(name, 0, "")
	}
	other := errors.New("another error")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("fl: round %q: %w", "r", fl.Invalid("min_reports", 0, "must be > 0")), "--min-reports: got 0, rule: must be > 0"},
		{fl.Invalid("min reports", 0, "must be > 0"), "--min-reports: got 0, rule: must be > 0"},
		{fl.Invalid("MaxMessageBytes", 0, "must be > 0"), "--max-message-bytes: got 0, rule: must be > 0"},
		{fl.Invalid("learning rate", 0, "must be > 0"), "--lr: got 0, rule: must be > 0"},
		{fmt.Errorf("plan: %w", fl.Invalid("gradients", 0, "must be > 0")), "plan: gradients: got 0, rule: must be > 0"},
		{other, "another error"},
	} {
		if got := OfFlag(f, c.err, map[string]string{"learning rate": "lr"}); got.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
	}
	if OfFlag(f, nil, nil) != nil {
		t.Error("an error without one")
	}
}
