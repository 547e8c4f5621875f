package pipeline

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/hushgrad/hushgrad/internal/estimates"
)

// writeFn writes the estimate of a round into a directory with the round's id.
type writeFn struct {
	Out  string
	Keys []string
}

// Namespaces of the counters that a run leaves, each with the ids of rounds as names.
const (
	CounterReports = "reports" // that were counted
	CounterSeeded  = "seeded"  // of them, drawn from a seed
)

// ProcessElement writes an estimate.
func (f *writeFn) ProcessElement(ctx context.Context, _ string, e Estimate) error {
	t := f.table(e)
	dir := strings.TrimRight(f.Out, "/") + "/" + e.ID
	for _, file := range append(t.Files(), estimates.File{Name: "estimates.parquet", Write: func(w io.Writer) error { return writeParquet(w, t) }}) {
		if err := replace(ctx, dir+"/"+file.Name, file.Write); err != nil {
			return fmt.Errorf("%s/%s: %w", dir, file.Name, err)
		}
	}
	beam.NewCounter(CounterReports, e.ID).Inc(ctx, e.Reports)
	beam.NewCounter(CounterSeeded, e.ID).Inc(ctx, e.Seeded)
	return nil
}

// table is the estimate with the names of its keys.
func (f *writeFn) table(e Estimate) *estimates.Table {
	t := &estimates.Table{Reports: e.Reports, Seeded: e.Seeded, Guarantee: e.Guarantee, Suspects: e.Suspects}
	t.Name = func(j int) string {
		if j < len(f.Keys) {
			return f.Keys[j]
		}
		return strconv.Itoa(j)
	}
	for _, c := range e.Columns {
		t.Dim = len(c.Value)
		t.Columns = append(t.Columns, estimates.Column{Name: c.Name, Values: c.Value})
		if len(c.StdErr) > 0 {
			t.Columns = append(t.Columns, estimates.Column{Name: c.Name + "_stderr", Values: c.StdErr})
		}
	}
	return t
}

// replace writes a file under another name and renames it: at path there is the old file or the new
// one, whole. Object stores show an object when it is closed, and have no names to change.
func replace(ctx context.Context, path string, write func(io.Writer) error) error {
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	_, renames := fs.(filesystem.Renamer)
	target := path
	if renames {
		target += "." + rand.Text() + ".tmp" // a runner may try twice at the same time
	}
	out, err := fs.OpenWrite(ctx, target)
	if err != nil {
		return err
	}
	if err := errors.Join(write(out), out.Close()); err != nil || !renames {
		return err
	}
	return filesystem.Rename(ctx, fs, target, path)
}
