package laboratory

import (
	"context"
	"fmt"
	"strings"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/heldout"
	"github.com/hushgrad/hushgrad/bench/pretrain"
	"github.com/hushgrad/hushgrad/bench/training"
	"github.com/hushgrad/hushgrad/examples/mnist/dataset"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/history"
)

// drawPictures writes held-out pictures as files.
func (p program) drawPictures(ctx context.Context, args []string, std command.Streams) error {
	o := heldout.Options{}
	f := flag.NewFlagSet(p.typed+" draw", flag.ContinueOnError)
	f.SetOutput(std.Out)
	f.Usage = func() {
		fmt.Fprintf(std.Out, "Usage: %s draw [flags] DIR\n\nWrites pictures that nothing of this module was chosen on, as the four files of MNIST, into a directory.\n\n", p.typed)
		command.PrintFlags(std.Out, f)
	}
	f.StringVar(&o.Kind, "kind", dataset.Letters, "what is on the pictures: "+strings.Join(heldout.Kinds(), ", "))
	f.IntVar(&o.Train, "train", dataset.Pictures, "training pictures, which clients hold")
	f.IntVar(&o.Test, "test", 10_000, "test pictures")
	f.Float64Var(&o.Skew, "skew", 0, "class i of the training pictures is (i+1)^skew times as rare as class 0; 0: all are as likely")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of all randomness")
	f.StringVar(&o.Fonts, "fonts", "", "`directory` that keeps the fonts; empty: hushgrad/fonts in the user's cache. Fonts that are missing come from the npm registry through the command npm")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fl.Invalid("arguments", strings.Join(f.Args(), " "), "must be one directory: %s draw --kind letters DIR", p.typed)
	}
	err := history.Writable("DIR", f.Arg(0)) // before minutes of drawing
	if err != nil {
		return err
	}
	if o.Fonts, err = pretrain.FontCache(o.Fonts); err != nil {
		return err
	}
	data, err := heldout.Draw(ctx, o)
	if err != nil {
		return err
	}
	return training.Write(f.Arg(0), data)
}
