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
	var promise *promised // nil: seeds promise nothing
	if t.Seeded == 0 {
		promise = promisedBy(t.Guarantee)
	}
	summary := map[string]any{"reports": t.Reports, "seeded_reports": t.Seeded, "guarantee": promise, "directory": dir, "files": names}
	reports := counted(t.Reports, "report")
	if t.Records > 0 {
		summary["records"] = t.Records
		reports += fmt.Sprintf(" of %d records", t.Records)
	}
	alarm := ""
	if n := len(t.Suspects); n > 0 {
		summary["suspects"] = n
		alarm = fmt.Sprintf("alarm: clients lie. More reports agree at %d of the keys than honest clients send, which happens once in 10^6 rounds at most. estimates.json lists the keys\n", n)
	}
	return form.printf(stdout, summary, "%s under %s: estimates.csv, estimates.json and %d .npy files in %s\n%s",
		reports, t.Promise(), len(t.Columns), dir, alarm)
}
