package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/estimates"
)

// writeEstimates leaves all forms of a table in a directory.
func writeEstimates(ctx context.Context, t *estimates.Table, dir string, stdout io.Writer) error {
	for _, f := range t.Files() {
		if err := command.Replace(ctx, filepath.Join(dir, f.Name), f.Write); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(stdout, "%d reports under %s: estimates.csv, estimates.json and %d .npy files in %s\n", t.Reports, t.Promise(), len(t.Columns), dir)
	return err
}
