package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

func roundsExport(ctx context.Context, args []string, std command.Streams) error {
	f, to := newAction("export", " ROUND", `Writes a closed round into a directory: round.json, which hushgrad verify reads, and
estimates.csv, estimates.json and .npy files as hushgrad aggregate writes them.`, std.Err)
	keys := f.String("keys", "", "public dictionary: a `file` with one key per line")
	out := f.String("out", "", "`directory` for the files, required")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	switch {
	case f.NArg() != 1:
		return fl.Invalid("arguments", f.NArg(), "one round is required")
	case *out == "":
		return fl.Invalid("-out", "", "is required")
	}
	return to.onServer(func(o *client.Operator) error {
		rounds, err := list(ctx, o)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rounds, func(l listed) bool { return l.round.ID == f.Arg(0) })
		if i < 0 {
			return fl.Invalid("arguments", f.Arg(0), "must be a round of the server, see hushgrad rounds list")
		}
		e, err := fetchEstimate(ctx, o, rounds[i].round.ID, false, *keys)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(*out, 0o755); err != nil {
			return fl.Invalid("-out", *out, "must be a directory, or one that can be made: %v", err)
		}
		describe := func(w io.Writer) error { return writeRound(w, rounds[i].round) }
		if err := command.Replace(ctx, filepath.Join(*out, "round.json"), describe); err != nil {
			return err
		}
		return e.write(ctx, *out, std.Out)
	})
}
