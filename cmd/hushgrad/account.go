package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

const accountUsage = `Usage: hushgrad account QUESTION [flags]

  amplify   central ε of shuffled reports, or the local ε and the clients it takes
  compose   what several reports of one client promise together
  plan      mechanism and parameters for a central budget and an error

hushgrad account QUESTION -help lists the flags of a question.
`

// questions are the sub-commands of account.
var questions = []struct {
	name   string
	answer command.Func
}{
	{"amplify", amplify},
	{"compose", accountCompose},
	{"plan", planQuestion},
}

// account answers questions about guarantees, without data.
func account(ctx context.Context, args []string, std command.Streams) error {
	if len(args) == 0 {
		fmt.Fprint(std.Out, accountUsage)
		return nil
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(std.Out, accountUsage)
		return nil
	}
	var names []string
	for _, q := range questions {
		if q.name == args[0] {
			return q.answer(ctx, args[1:], std)
		}
		names = append(names, q.name)
	}
	return fl.Invalid("question", args[0], "must be one of %s", strings.Join(names, ", "))
}

// newQuestion returns the flags of a question, with -json and -plot.
func newQuestion(name, what string, stderr io.Writer) (f *flag.FlagSet, asJSON *bool, plot *string) {
	f = flag.NewFlagSet("hushgrad account "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "Usage: %s [flags]\n\n%s\n\n", f.Name(), what)
		f.PrintDefaults()
	}
	return f, f.Bool("json", false, "print JSON"), f.String("plot", "", "`file` for a PNG with the curve")
}

func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// writePlot writes a figure to a file.
func writePlot(path string, f *figure.Figure) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.WritePNG(out), out.Close())
}
