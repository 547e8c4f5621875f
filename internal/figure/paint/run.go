package paint

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
)

// Run is the command hushgrad-draw: it reads a figure from standard input and writes its picture to standard output. The
// argument is the form of the picture, as the ending of a file.
func Run(ctx context.Context, args []string, std command.Streams) error {
	f := flag.NewFlagSet("hushgrad-draw", flag.ContinueOnError)
	f.SetOutput(std.Out)
	f.Usage = func() {
		fmt.Fprint(std.Out, "hushgrad-draw FORM: draw the figure of standard input as .png, .svg or .pdf\n\nhushgrad account … --plot FILE starts it.\n")
	}
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 || !slices.Contains(figure.Forms, f.Arg(0)) {
		return fl.Invalid("form", strings.Join(f.Args(), " "), "must be one of %s", strings.Join(figure.Forms, ", "))
	}
	drawn, err := figure.Read(command.Reader(ctx, std.In))
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	return map[string]func(io.Writer, *figure.Figure) error{".png": PNG, ".svg": SVG, ".pdf": PDF}[f.Arg(0)](command.Writer(ctx, std.Out), drawn)
}
