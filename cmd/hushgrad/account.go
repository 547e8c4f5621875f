package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
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
		if !slices.Contains(figure.Forms, filepath.Ext(path)) {
			return errors.New("must end with .png, .svg or .pdf")
		}
		a.plot = path
		return nil
	})
	a.output.bind(f)
}

// validate refuses a picture that cannot be drawn or written.
func (a *answerForms) validate() error {
	if a.plot == "" {
		return nil
	}
	if err := command.Place("--plot", a.plot); err != nil {
		return err
	}
	_, err := painter()
	return err
}

// painter returns the path of hushgrad-draw, which draws pictures: beside this program, or in the PATH.
func painter() (string, error) {
	const name = "hushgrad-draw"
	if own, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(own), name)); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fl.Invalid("--plot", name, "must be beside hushgrad or in the PATH, this program draws no pictures itself: an archive of a release has both, and \"go install ./cmd/hushgrad-draw\" in a clone makes it")
	}
	return path, nil
}

// draw lets hushgrad-draw write the figure of --plot, if one was asked for, in the form of the ending of its file.
func (a *answerForms) draw(ctx context.Context, curve func() (*figure.Figure, error)) error {
	if a.plot == "" {
		return nil
	}
	f, err := curve()
	if err != nil {
		return err
	}
	path, err := painter()
	if err != nil {
		return err
	}
	var figure, said bytes.Buffer
	if err := f.Write(&figure); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := command.Replace(ctx, a.plot, func(w io.Writer) error {
		painting := exec.CommandContext(ctx, path, filepath.Ext(a.plot))
		painting.Stdin, painting.Stdout, painting.Stderr = &figure, w, &said
		return painting.Run()
	}); err != nil {
		return fmt.Errorf("--plot: %s: %w: %s", path, cmp.Or(ctx.Err(), err), strings.TrimSpace(said.String()))
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
