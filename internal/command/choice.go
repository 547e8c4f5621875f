package command

import (
	"errors"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"
)

// OneOf adds a flag that has one of a few values, and a short form where short is not empty. Any other value is an error
// that lists the values. The default is what is there already. It may be none of the values, such as an empty text.
func OneOf[T ~string](f *flag.FlagSet, at *T, name, short string, values []T, usage string) {
	c := &choice{text: string(*at), set: func(text string) { *at = T(text) }}
	for _, v := range values {
		c.values = append(c.values, string(v))
	}
	f.VarP(c, name, short, usage)
}

// Without takes values from a flag of OneOf, for a command that has no use for them. Whoever types one of them is told why.
func Without(f *flag.FlagSet, name, why string, values ...string) {
	c := f.Lookup(name).Value.(*choice)
	c.without, c.why = values, why
	c.values = slices.DeleteFunc(c.values, func(value string) bool { return slices.Contains(values, value) })
}

// Choices returns the values of a flag of OneOf, and nil for any other flag.
func Choices(f *flag.Flag) []string {
	if c, ok := f.Value.(*choice); ok {
		return c.values
	}
	return nil
}

// choice implements flag.Value.
type choice struct {
	text    string
	set     func(text string)
	values  []string
	without []string // are no values of this command
	why     string
}

func (c *choice) String() string { return c.text }
func (c *choice) Type() string   { return "string" }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.values, text) {
		named := slices.DeleteFunc(slices.Clone(c.values), func(value string) bool { return value == "" })
		rule := "must be one of " + strings.Join(named, ", ")
		if slices.Contains(c.without, text) {
			rule += ": " + c.why
		}
		return errors.New(rule)
	}
	c.text = text
	c.set(text)
	return nil
}
