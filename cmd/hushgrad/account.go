package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/plan"
)

// newAccount returns the command that answers questions about guarantees, without data.
func newAccount() *cobra.Command {
	return newParent("account QUESTION", "compute central ε, composition and plans", "question", newAmplify(), newCompose(), newPlan(), newStatement())
}

// answerForms are the flags for the form of an answer.
type answerForms struct {
	output output
	plot   string // file, empty for none
}

func (a *answerForms) bind(f *flag.FlagSet) {
	f.Func("plot", "`file` for a picture of the curve: .png, .svg or .pdf", func(path string) error {
		if _, ok := pictures[filepath.Ext(path)]; !ok {
			return errors.New("must end with .png, .svg or .pdf")
		}
		a.plot = path
		return nil
	})
	a.output.bind(f)
}

// validate refuses a picture that cannot be written.
func (a *answerForms) validate() error {
	if a.plot == "" {
		return nil
	}
	return command.Place("--plot", a.plot)
}

// pictures are the forms of a figure by the ending of its file.
var pictures = map[string]func(*figure.Figure, io.Writer) error{
	".png": (*figure.Figure).WritePNG, ".svg": (*figure.Figure).WriteSVG, ".pdf": (*figure.Figure).WritePDF,
}

// draw writes the figure of --plot, if one was asked for, in the form of the ending of its file. It takes no context: the curve
// is computed.
func (a *answerForms) draw(curve func() (*figure.Figure, error)) error {
	if a.plot == "" {
		return nil
	}
	f, err := curve()
	if err != nil {
		return err
	}
	if err := command.Replace(context.Background(), a.plot, func(w io.Writer) error { return pictures[filepath.Ext(a.plot)](f, w) }); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// printWords prints the parts of an answer for people.
func printWords(w io.Writer, all ...plan.Words) error {
	for _, words := range all {
		if err := words.Print(w); err != nil {
			return err
		}
	}
	return nil
}
