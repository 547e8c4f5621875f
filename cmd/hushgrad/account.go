package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
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
	f = newFlags("account "+name, fmt.Sprintf("Usage: hushgrad account %s [flags]\n\n%s\n\n", name, what), stderr)
	plot = new(string)
	f.Func("plot", "`file` for a picture of the curve: .png, .svg or .pdf", func(path string) error {
		*plot = path
		if _, ok := pictures[filepath.Ext(path)]; !ok {
			return errors.New("must end with .png, .svg or .pdf")
		}
		return command.Place("-plot", path)
	})
	return f, f.Bool("json", false, "print JSON"), plot
}

func printJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// pictures are the forms of a figure by the ending of its file.
var pictures = map[string]func(*figure.Figure, io.Writer) error{
	".png": (*figure.Figure).WritePNG, ".svg": (*figure.Figure).WriteSVG, ".pdf": (*figure.Figure).WritePDF,
}

// writePlot writes a figure to a file, in the form of its ending. It takes no context: the
// curve is computed.
func writePlot(path string, f *figure.Figure) error {
	return command.Replace(context.Background(), path, func(w io.Writer) error { return pictures[filepath.Ext(path)](f, w) })
}
