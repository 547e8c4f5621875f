package main

import (
	"errors"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
)

// logging are the flags of commands that run for long.
type logging struct {
	format string
	level  slog.Level
}

func (l *logging) bind(f *flag.FlagSet) {
	l.format = textOutput
	command.OneOf(f, &l.format, "log-format", "", []string{textOutput, jsonOutput}, "text or json")
	f.Func("log-level", "`level`: debug, info, warn or error; info when it is not given", func(text string) error {
		if l.level.UnmarshalText([]byte(text)) != nil {
			return errors.New("must be debug, info, warn or error")
		}
		return nil
	})
}

func (l *logging) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.level, ReplaceAttr: readable}
	if l.format == jsonOutput {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// logged puts the error that ends a command into its log, where that is JSON for a program to read. Whoever
// reads text gets the error as every command prints it.
func logged(c *cobra.Command, err error, w io.Writer) error {
	format := c.Flags().Lookup("log-format")
	if err == nil || errors.Is(err, flag.ErrHelp) || format == nil || format.Value.String() != "json" {
		return err
	}
	(&logging{format: "json"}).logger(w).Error(c.CommandPath()+" has ended", "error", err)
	return command.Printed(err)
}

// readable writes a time span in JSON as text does: 2s, and not a number of nanoseconds.
func readable(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}
