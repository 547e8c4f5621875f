package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/server/client"
)

// exportFlags are the flags of rounds export.
type exportFlags struct {
	keys, out string
	output    output
}

func newRoundsExport() *cobra.Command {
	var to *remote
	e := &exportFlags{}
	c := newCommand("export [flags] ROUND", "write a closed round and its estimate into a directory", `Writes a closed round into a directory: round.json, which hushgrad verify reads, and
estimates.csv, estimates.json and .npy files as hushgrad aggregate writes them.`, func(ctx context.Context, args []string, std command.Streams) error {
		if e.out == "" {
			return fl.Invalid("--out", "", "is required")
		}
		if info, err := os.Stat(e.out); err == nil && !info.IsDir() {
			return fl.Invalid("--out", e.out, "must be a directory, or one that can be made")
		}
		return to.onServer(func(o *client.Operator) error { return e.export(ctx, o, args[0], std.Out) })
	})
	c.Args = oneArgument("round")
	to = bindServer(c.Flags())
	c.Flags().StringVar(&e.keys, "keys", "", "public dictionary: a `file` with one key per line")
	c.Flags().StringVar(&e.out, "out", "", "`directory` for the files, required")
	e.output.bind(c.Flags())
	return c
}

// export writes one round.
func (e *exportFlags) export(ctx context.Context, o *client.Operator, id string, stdout io.Writer) error {
	rounds, err := o.Rounds(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rounds, func(s client.RoundStatus) bool { return s.Round.ID == id })
	if i < 0 {
		return fl.Invalid("arguments", id, "must be a round of the server, see hushgrad rounds list")
	}
	got, err := fetchEstimate(ctx, o, id, false, e.keys)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.out, 0o755); err != nil {
		return fl.Invalid("--out", e.out, "must be a directory, or one that can be made: %v", err)
	}
	describe := func(w io.Writer) error { return writeRound(w, rounds[i].Round) }
	if err := command.Replace(ctx, filepath.Join(e.out, "round.json"), describe); err != nil {
		return err
	}
	return writeEstimates(ctx, got, e.out, stdout, &e.output)
}
