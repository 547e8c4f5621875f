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
		{nil, "", ""}, {[]string{"-n=1"}, "", ""}, {[]string{"-m=1"}, "flags", "flags"}, {[]string{"x"}, "", "arguments"},
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
	if err := Parse(f, []string{"-help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: error %v", err)
	}
}

// A wrong flag is one line that names it and the help; only a request for help prints that.
func TestAWrongFlagPrintsNoHelp(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, c := range []struct{ arg, says string }{
			{"-m=1", `got "-m", rule: must be a flag of the command`}, {"-n=many", `-n: got "many", rule: must be a whole number, see`}, {"-n", `-n: got "", rule: needs a value, see`}, {"-help", ""},
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
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasSuffix(err.Error(), "see name -help") || strings.Contains(err.Error(), "\n") || out.Len() > 0 {
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
	if err := Parse(f, []string{"-m=5"}); err != nil {
		t.Fatal(err)
	}
	if err := Unused(f, "with x", "n"); err != nil || Given(f, "n") || !Given(f, "m") {
		t.Errorf("error %v, given: %t and %t", err, Given(f, "n"), Given(f, "m"))
	}
	var p *fl.ParamError
	if err := Unused(f, "with x", "n", "m"); !errors.As(err, &p) || err.Error() != `-m: got "5", rule: must not be given with x` {
		t.Errorf("a flag that has its default: error %v", err)
	}
}

// One dash is enough, and whatever follows a flag with a value is its value.
func TestOneDashAndTwo(t *testing.T) {
	for line, want := range map[string]string{
		"-n 1":             "--n=1",
		"-n=1 --n 2 --n=3": "--n=1 --n=2 --n=3",
		"-n -3.5":          "--n=-3.5",
		"-n -on":           "--n=-on",
		"-n -- -n 1":       "--n=-- --n=1",
		"-on x -on=false":  "--on x --on=false",
		"-o json -o=text":  "--output=json --output=text",
		"-h -help":         "--help --help",
		"-odd 1 -":         "--odd 1 -",
		"x -n":             "x --n",
		"-on -- -n 1 x":    "--on -- -n 1 x",
		"---n":             "---n",
		"-n=":              "--n=",
		"-n=a=b":           "--n=a=b",
		"-=1":              "--=1",
	} {
		f := flag.NewFlagSet("name", flag.ContinueOnError)
		f.String("n", "", "")
		f.Bool("on", false, "")
		f.StringP("output", "o", "", "")
		find := func(name string) *flag.Flag {
			if name == "o" {
				name = "output"
			}
			return f.Lookup(name)
		}
		if got := strings.Join(TwoDashes(strings.Fields(line), find, func(string) {}), " "); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}

// A word is handed over before the flags behind it are looked for.
func TestWordsDecideAboutFlags(t *testing.T) {
	f := flag.NewFlagSet("name", flag.ContinueOnError)
	f.String("n", "", "")
	at := ""
	got := TwoDashes([]string{"-n", "a", "b", "-n", "c"}, func(name string) *flag.Flag {
		if at != "b" {
			return nil
		}
		return f.Lookup(name)
	}, func(word string) { at = word })
	if strings.Join(got, " ") != "--n a b --n=c" {
		t.Errorf("%q", got)
	}
}
