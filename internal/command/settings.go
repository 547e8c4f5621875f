package command

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/hushgrad/hushgrad/fl"
)

// configFlag is the flag that names the file.
const configFlag = "config"

// maxConfigBytes bounds a configuration file.
const maxConfigBytes = 64 << 10

// Configurable adds -config to the flags of a command. Parse then takes a flag that is not
// on the command line from the environment, and one that is not there either from the file.
func Configurable(f *flag.FlagSet) {
	f.String(configFlag, "", fmt.Sprintf("TOML `file` with flags as its keys. Every flag can be set in the environment, too: %s for -%s. The command line wins over the environment, and the environment over the file", variable(f, configFlag), configFlag))
}

// ListFlag is a flag.Value that may be given several times. A file sets it with a list.
type ListFlag interface {
	flag.Value
	IsListFlag() bool
}

// variable returns the environment variable of a flag: HUSHGRAD_SERVE_OPERATOR_LISTEN is
// -operator-listen of hushgrad serve.
func variable(f *flag.FlagSet, name string) string {
	return variables(f) + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// variables returns what the environment variables of a command begin with.
func variables(f *flag.FlagSet) string {
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(f.Name())) + "_"
}

// configure sets the flags that the command line left open. It does nothing unless
// Configurable was called.
func configure(f *flag.FlagSet) error {
	if f.Lookup(configFlag) == nil {
		return nil
	}
	if err := fromEnvironment(f, os.Environ()); err != nil {
		return err
	}
	name := f.Lookup(configFlag).Value.String()
	if name == "" {
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return fl.Invalid("-"+configFlag, name, "must be a file that can be read: %v", err)
	}
	defer file.Close()
	return fromFile(f, name, file)
}

// fromEnvironment sets the flags that have a variable. A variable that begins like those of
// the command and has no flag is an error: it is likely a slip.
func fromEnvironment(f *flag.FlagSet, environment []string) error {
	flags := map[string]string{}
	f.VisitAll(func(g *flag.Flag) { flags[variable(f, g.Name)] = g.Name })
	given := givenFlags(f)
	for _, entry := range environment {
		key, text, _ := strings.Cut(entry, "=")
		name, known := flags[key]
		switch {
		case !strings.HasPrefix(key, variables(f)):
		case !known:
			return fl.Invalid(key, text, "must be a variable of a flag, see %s -help", f.Name())
		case !given[name]:
			if err := f.Set(name, text); err != nil {
				return fl.Invalid(key, text, "must be a value of -%s: %v", name, err)
			}
		}
	}
	return nil
}

// fromFile sets the flags that a file has and that have no value yet.
func fromFile(f *flag.FlagSet, file string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxConfigBytes+1))
	if err != nil {
		return fl.Invalid("-"+configFlag, file, "must be a file that can be read: %v", err)
	}
	if len(text) > maxConfigBytes {
		return fl.Invalid(file, fmt.Sprintf("more than %d bytes", maxConfigBytes), "must be a configuration file of at most that")
	}
	var values map[string]any
	if _, err := toml.Decode(string(text), &values); err != nil {
		var wrong toml.ParseError
		if errors.As(err, &wrong) {
			return fl.Invalid(fmt.Sprintf("%s: line %d", file, wrong.Position.Line), wrong.Message, "must be TOML with every key once")
		}
		return fl.Invalid(file, err, "must be TOML with every key once")
	}
	given := givenFlags(f)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key := file + ": " + name
		known := f.Lookup(name)
		if known == nil || name == configFlag {
			return fl.Invalid(key, values[name], "must be a flag of the command, see %s -help", f.Name())
		}
		texts, ok := textsOf(known, values[name])
		if !ok {
			return fl.Invalid(key, values[name], "must be a string, a number or a boolean, or a list of them for a flag that may be repeated")
		}
		if given[name] {
			continue
		}
		for _, text := range texts {
			if err := f.Set(name, text); err != nil {
				return fl.Invalid(key, text, "must be a value of -%s: %v", name, err)
			}
		}
	}
	return nil
}

// givenFlags returns the flags that have been set.
func givenFlags(f *flag.FlagSet) map[string]bool {
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
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
