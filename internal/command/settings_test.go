package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// list is a flag that may be repeated.
type list []string

func (l *list) String() string        { return strings.Join(*l, ",") }
func (l *list) Set(text string) error { *l = append(*l, text); return nil }
func (l *list) Type() string          { return "list" }
func (l *list) IsListFlag() bool      { return true }

// every is one flag of every kind.
type every struct {
	f     *flag.FlagSet
	name  string
	on    bool
	n     int
	x     float64
	after time.Duration
	each  list
}

func newEvery() *every {
	s := &every{f: flag.NewFlagSet("it", flag.ContinueOnError)}
	s.f.SetOutput(io.Discard)
	s.f.StringVar(&s.name, "a-name", "default", "")
	s.f.BoolVar(&s.on, "on", false, "")
	s.f.IntVar(&s.n, "n", 1, "")
	s.f.Float64Var(&s.x, "x", 1, "")
	s.f.DurationVar(&s.after, "after", time.Second, "")
	s.f.Var(&s.each, "each", "")
	s.f.Bool("help", false, "")
	Configurable(s.f)
	return s
}

// parse reads a command line and what it leaves open.
func (s *every) parse(args ...string) error {
	if err := ParseOnly(s.f, args); err != nil {
		return err
	}
	return Configure("hushgrad try it", s.f)
}

func configFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheCommandLineWinsOverTheEnvironmentOverTheFile(t *testing.T) {
	file := configFile(t, "a-name = 'file'\n")
	for _, c := range []struct {
		args        []string
		environment string
		file        bool
		want        string
	}{
		{nil, "", false, "default"},
		{nil, "", true, "file"},
		{nil, "environment", true, "environment"},
		{[]string{"--a-name", "line"}, "environment", true, "line"},
		{[]string{"--a-name", ""}, "environment", true, ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			if c.environment != "" {
				t.Setenv("HUSHGRAD_TRY_IT_A_NAME", c.environment)
			}
			if c.file {
				t.Setenv("HUSHGRAD_TRY_IT_CONFIG", file)
			}
			s := newEvery()
			if err := s.parse(c.args...); err != nil || s.name != c.want {
				t.Errorf("%q, %v, want %q", s.name, err, c.want)
			}
			if given := c.want != "default"; Given(s.f, "a-name") != given {
				t.Errorf("given: %t, want %t", !given, given)
			}
		})
	}
}

func TestAFileSetsFlagsOfEveryKind(t *testing.T) {
	s := newEvery()
	file := configFile(t, "# settings\na-name = \"b\"\non = true\nn = -3\nx = 1e-5\nafter = \"2m\"\neach = [\"p=1\", 2]\n")
	if err := s.parse("--config", file); err != nil {
		t.Fatal(err)
	}
	if s.name != "b" || !s.on || s.n != -3 || s.x != 1e-5 || s.after != 2*time.Minute || s.each.String() != "p=1,2" {
		t.Errorf("%+v", s)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"colour = 'red'":            `: colour: got "red", rule: must be a flag of the command, see hushgrad try it --help`,
		"config = 'other'":          `: config: got "other", rule: must be a flag of the command, see`,
		"help = true":               `: help: got true, rule: must be a flag of the command, see`,
		"n = 1\nn = 2":              `: line 2: got "n = 2", rule: must be TOML with every key once, such as name = 0.5 or name = "text": Key 'n' has already been defined.`,
		"on = true\nn = = 1":        `: line 2: got "n = = 1", rule: must be TOML`,
		"x = 0,5":                   `: line 1: got "x = 0,5", rule: must be TOML with every key once, such as name = 0.5 or`,
		"a_name = 'b'":              `: a_name: got "b", rule: must be a flag of the command (did you mean a-name?), see`,
		"n = 'many'":                `: n: got "many", rule: must be a value of --n: `,
		"n = 1.5":                   `: n: got "1.5", rule: must be a value of --n: `,
		"after = 2":                 `: after: got "2", rule: must be a value of --after: `,
		"a-name = ['a', 'b']":       `: a-name: got [a b], rule: must be a string`,
		"each = [['a']]":            `: each: got [[a]], rule: must be a string`,
		"[on]\nn = 1":               `: on: got "[on]", rule: must be no table: keys are flags of hushgrad try it, and stand before any table`,
		strings.Repeat("\n", 65537): `got "more than 65536 bytes", rule: must be a configuration file of at most that`,
	} {
		file := configFile(t, text)
		err := newEvery().parse("--config", file)
		var p *fl.ParamError
		if !errors.As(err, &p) || !strings.HasPrefix(p.Param, file) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	// A value that the command line replaces must be right, too.
	if err := newEvery().parse("--n=1", "--config", configFile(t, "n = []")); err == nil {
		t.Error("a list for a number: no error")
	}
	if err := newEvery().parse("--config", "absent"); err == nil || !strings.Contains(err.Error(), `--config: got "absent"`) {
		t.Errorf("a file that is not there: error %v", err)
	}
}

func TestWrongVariablesAreNamed(t *testing.T) {
	for variable, want := range map[string]string{
		"HUSHGRAD_TRY_IT_N=many":      `HUSHGRAD_TRY_IT_N: got "many", rule: must be a value of --n: `,
		"HUSHGRAD_TRY_IT_NAME=x":      `HUSHGRAD_TRY_IT_NAME: got "x", rule: must be a variable of a flag (did you mean HUSHGRAD_TRY_IT_A_NAME?), see hushgrad try it --help`,
		"HUSHGRAD_TRY_IT_HELP=true":   `HUSHGRAD_TRY_IT_HELP: got "true", rule: must be a variable of a flag`,
		"HUSHGRAD_TRY_IT_A_NAME=x":    "",
		"HUSHGRAD_TRY_NAME=x":         "",
		"HUSHGRAD_TRY_ITS_OWN_NAME=x": "",
	} {
		key, value, _ := strings.Cut(variable, "=")
		t.Run(key, func(t *testing.T) {
			t.Setenv(key, value)
			err := newEvery().parse()
			var p *fl.ParamError
			if (err == nil) != (want == "") || err != nil && (!errors.As(err, &p) || !strings.Contains(err.Error(), want)) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	// Flags without Configurable have no variables.
	f := flag.NewFlagSet("hushgrad try it", flag.ContinueOnError)
	t.Setenv("HUSHGRAD_TRY_IT_NAME", "x")
	if err := Parse(f, nil); err != nil {
		t.Error(err)
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, text := range []string{"n = 1", "each = ['a', 2, 0.5, true]", "[on]\nn = 1", "a-name = ", "on = 1979-05-27", strings.Repeat("[", 99)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := settings{"hushgrad try it", newEvery().f}.fromFile("file", strings.NewReader(text))
		var p *fl.ParamError
		if err != nil && (!errors.As(err, &p) || !strings.HasPrefix(p.Param, "file")) {
			t.Errorf("error %v", err)
		}
	})
}
