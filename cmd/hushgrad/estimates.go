package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/npy"
)

// estimates is what a round estimated, by key.
type estimates struct {
	keys      *dictionary
	dim       int
	reports   int64
	seeded    int64 // of them, made by encode -seed
	guarantee fl.Guarantee
	columns   []estimateColumn
}

// estimateColumn is one number per key.
type estimateColumn struct {
	name   string
	values []float64
}

// tabulate turns an estimate into columns of plain numbers.
func tabulate(got *fl.Estimate) *estimates {
	e := &estimates{reports: got.Reports, guarantee: got.Guarantee}
	for _, c := range got.Columns {
		e.columns = append(e.columns, estimateColumn{c.Name, c.Value})
		if c.StdErr != nil {
			e.columns = append(e.columns, estimateColumn{c.Name + "_stderr", c.StdErr})
		}
	}
	return e
}

func (e *estimates) writeCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	record := []string{"key"}
	for _, c := range e.columns {
		record = append(record, c.name)
	}
	if err := w.Write(record); err != nil {
		return err
	}
	for j := range e.dim {
		record[0] = e.keys.name(j)
		for i, c := range e.columns {
			record[i+1] = strconv.FormatFloat(c.values[j], 'g', -1, 64)
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// write leaves all forms in a directory.
func (e *estimates) write(ctx context.Context, dir string, stdout io.Writer, form *output) error {
	forms := []struct {
		name  string
		write func(io.Writer) error
	}{{"estimates.csv", e.writeCSV}, {"estimates.json", e.writeJSON}}
	for _, c := range e.columns {
		forms = append(forms, struct {
			name  string
			write func(io.Writer) error
		}{c.name + ".npy", func(w io.Writer) error { return npy.Write(w, c.values) }})
	}
	for _, f := range forms {
		if err := command.Replace(ctx, filepath.Join(dir, f.name), f.write); err != nil {
			return err
		}
	}
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	summary := map[string]any{"reports": e.reports, "seeded_reports": e.seeded, "guarantee": e.promisedToAll(), "directory": dir, "files": names}
	return form.print(stdout, summary, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%d reports under %s: estimates.csv, estimates.json and %d .npy files in %s\n", e.reports, e.promise(), len(e.columns), dir)
		return err
	})
}

// promisedToAll is what the reports promised, nil for nothing, because of seeds.
func (e *estimates) promisedToAll() *promised {
	if e.seeded > 0 {
		return nil
	}
	return promisedBy(e.guarantee)
}

// promise says what the reports promised.
func (e *estimates) promise() string {
	if e.seeded > 0 {
		return "no guarantee, because of seeds"
	}
	return e.guarantee.String()
}

func (e *estimates) writeJSON(w io.Writer) error {
	rows := make([]map[string]any, e.dim)
	for j := range rows {
		rows[j] = map[string]any{"key": e.keys.name(j)}
		for _, c := range e.columns {
			rows[j][c.name] = c.values[j]
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	fields := map[string]any{"reports": e.reports, "guarantee": e.guarantee.String(), "estimates": rows}
	if e.seeded > 0 {
		fields["guarantee"], fields["seeded_reports"], fields["note"] = nil, e.seeded, seededWarning
	}
	return encoder.Encode(fields)
}
