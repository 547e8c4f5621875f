package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
)

// configFlag is the flag that names the file.
const configFlag = "config"

// maxConfigBytes bounds a configuration file.
const maxConfigBytes = 64 << 10

// tomlRule is what a configuration file must be.
const tomlRule = `must be TOML with every key once, such as name = 0.5 or name = "text"`

// helpFlag is the one flag that is for the command line only.
const helpFlag = "help"

// Configurable adds --config to the flags of a command, for [Configure].
func Configurable(f *flag.FlagSet) {
	f.String(configFlag, "", "TOML `file` with flags, see hushgrad help configuration")
}

// Configure sets the flags of a command that the command line left open: from the
// environment, and those that are not there either from the file of --config. Variables that begin
// like the variables of one of its children are the child's. It returns the first
// *fl.ParamError for a value that is wrong or that no flag has, after it has set all that are right.
func Configure(command string, f *flag.FlagSet, children ...string) error {
	c := settings{command, f}
	wrong := c.fromEnvironment(os.Environ(), children)
	name := f.Lookup(configFlag).Value.String()
	if name == "" {
		return wrong
	}
	file, err := os.Open(name)
	if err != nil {
		return cmp.Or(wrong, fl.Invalid("--"+configFlag, name, "must be a file that can be read: %v", err))
	}
	defer file.Close()
	return cmp.Or(wrong, c.fromFile(name, file))
}

// settings are the flags of a command, which may be set elsewhere than on the command line.
type settings struct {
	command string // as it is called: hushgrad serve
	flags   *flag.FlagSet
}

// ListFlag is a flag.Value that may be given several times. A file sets it with a list.
type ListFlag interface {
	flag.Value
	IsListFlag() bool
}

// Variable returns the environment variable of a flag: HUSHGRAD_SERVE_OPERATOR_LISTEN is
// --operator-listen of hushgrad serve.
func Variable(command, name string) string {
	return variables(command) + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// variables returns what the environment variables of a command begin with.
func variables(command string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(command)) + "_"
}

// fromEnvironment sets the flags that have a variable. A variable that begins like the command's
// variables, and not like a child's, and has no flag is an error: it is likely a slip.
func (c settings) fromEnvironment(environment, children []string) (wrong error) {
	flags := map[string]string{}
	c.flags.VisitAll(func(g *flag.Flag) {
		if g.Name != helpFlag {
			flags[Variable(c.command, g.Name)] = g.Name
		}
	})
	given := c.given()
	for _, entry := range environment {
		key, text, _ := strings.Cut(entry, "=")
		name, known := flags[key]
		switch {
		case !strings.HasPrefix(key, variables(c.command)):
		case !known && slices.ContainsFunc(children, func(child string) bool { return strings.HasPrefix(key, variables(child)) }):
		case !known:
			meant := Similar(slices.Sorted(maps.Keys(flags)), key)
			wrong = cmp.Or(wrong, fl.Invalid(key, text, "must be a variable of a flag%s, see %s --help", Meant(meant), c.command))
		case !given[name]:
			wrong = cmp.Or(wrong, c.set(key, name, text))
		}
	}
	return wrong
}

// fromFile sets the flags that a file has and that have no value yet.
func (c settings) fromFile(file string, in io.Reader) (wrong error) {
	text, err := io.ReadAll(io.LimitReader(in, maxConfigBytes+1))
	if err != nil {
		return fl.Invalid("--"+configFlag, file, "must be a file that can be read: %v", err)
	}
	if len(text) > maxConfigBytes {
		return fl.Invalid(file, fmt.Sprintf("more than %d bytes", maxConfigBytes), "must be a configuration file of at most that")
	}
	var values map[string]any
	if _, err := toml.Decode(string(text), &values); err != nil {
		if syntax, ok := errors.AsType[toml.ParseError](err); ok {
			line := syntax.Position.Line
			return fl.Invalid(fmt.Sprintf("%s: line %d", file, line), lineOf(string(text), line), "%s: %s", tomlRule, syntax.Message)
		}
		return fl.Invalid(file, err, tomlRule)
	}
	given := c.given()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := file + ": " + name
		known := c.flags.Lookup(name)
		if _, table := values[name].(map[string]any); table || known == nil || name == configFlag || name == helpFlag {
			wrong = cmp.Or(wrong, c.unknown(key, name, values[name]))
			continue
		}
		texts, ok := textsOf(known, values[name])
		if !ok {
			wrong = cmp.Or(wrong, fl.Invalid(key, values[name], "must be a string, a number or a boolean, or a list of them for a flag that may be repeated"))
			continue
		}
		if given[name] {
			continue
		}
		for _, text := range texts {
			wrong = cmp.Or(wrong, c.set(key, name, text))
		}
	}
	return wrong
}

// unknown is the error of a key that is no flag.
func (c settings) unknown(key, name string, value any) error {
	if _, table := value.(map[string]any); table {
		return fl.Invalid(key, "["+name+"]", "must be no table: keys are flags of %s, and stand before any table", c.command)
	}
	meant := ""
	if c.flags.Lookup(name) == nil {
		meant = Meant(similarFlags(c.flags, name))
	}
	return fl.Invalid(key, value, "must be a flag of the command%s, see %s --help", meant, c.command)
}

// lineOf returns a line of a text, or how it begins where it is long.
func lineOf(text string, line int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	one := strings.TrimSpace(lines[line-1])
	return one[:min(len(one), 60)]
}

// set gives a flag the text of a key.
func (c settings) set(key, name, text string) error {
	err := c.flags.Set(name, text)
	if err == nil {
		return nil
	}
	cause := err
	if wrong, ok := errors.AsType[*flag.InvalidValueError](err); ok {
		cause = errors.Unwrap(wrong)
	}
	return fl.Invalid(key, text, "must be a value of --%s: %s", name, reason(c.flags.Lookup(name), text, cause))
}

// given returns the flags that have been set.
func (c settings) given() map[string]bool {
	given := map[string]bool{}
	c.flags.Visit(func(g *flag.Flag) { given[g.Name] = true })
	return given
}

// textsOf returns the values of a key as they would be on the command line.
func textsOf(of *flag.Flag, value any) (texts []string, ok bool) {
	list, many := value.([]any)
	if !many {
		text, ok := textOf(value)
		return []string{text}, ok
	}
	if l, ok := of.Value.(ListFlag); !ok || !l.IsListFlag() {
		return nil, false
	}
	for _, entry := range list {
		text, ok := textOf(entry)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

func textOf(value any) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
