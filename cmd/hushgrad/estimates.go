package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/estimates"
)

// writeEstimates leaves all forms of a table in a directory, and prints what it wrote.
func writeEstimates(ctx context.Context, t *estimates.Table, dir string, stdout io.Writer, form *output) error {
	var names []string
	for _, f := range t.Files() {
		if err := command.Replace(ctx, filepath.Join(dir, f.Name), f.Write); err != nil {
			return err
		}
		names = append(names, f.Name)
	}
	summary := map[string]any{"reports": t.Reports, "seeded_reports": t.Seeded, "guarantee": promisedToAll(t), "directory": dir, "files": names}
	return form.print(stdout, summary, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%d reports under %s: estimates.csv, estimates.json and %d .npy files in %s\n", t.Reports, t.Promise(), len(t.Columns), dir)
		return err
	})
}

// promisedToAll is what the reports promised, nil for nothing, because of seeds.
func promisedToAll(t *estimates.Table) *promised {
	if t.Seeded > 0 {
		return nil
	}
	return promisedBy(t.Guarantee)
}
