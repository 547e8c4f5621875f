// Package estimates writes what a round estimated, as CSV, as JSON and as .npy files. Every program
// that ends with an estimate writes these files. Start with [Of] and [Table.Files].
package estimates

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/npy"
)

// SeededNote is printed and written with reports that were drawn from a seed.
const SeededNote = "these reports were drawn from a seed: they promise nothing, whatever the round says"

// Table is what a round estimated, by key.
type Table struct {
	Name      func(key int) string // of a key
	Dim       int                  // number of keys
	Reports   int64
	Records   int64        // behind the reports, or 0 where reports are about clients
	Seeded    int64        // of them, drawn from a seed
	Guarantee fl.Guarantee // what the reports promised
	Suspects  []int        // keys at which clients lie, see fl.Estimate
	Columns   []Column
}

// Column is one number per key.
type Column struct {
	Name   string
	Values []float64 // length Dim
}

// Of returns the table of an estimate, with a column of standard errors behind every column that
// has them. Its keys are numbers.
func Of(e *fl.Estimate) *Table {
	t := &Table{Name: strconv.Itoa, Dim: len(e.Mean().Value), Reports: e.Reports, Records: e.Records, Guarantee: e.Guarantee, Suspects: e.Suspects}
	for _, c := range e.Columns {
		t.Columns = append(t.Columns, Column{c.Name, c.Value})
		if c.StdErr != nil {
			t.Columns = append(t.Columns, Column{c.Name + "_stderr", c.StdErr})
		}
	}
	return t
}

// Promise says what the reports promised.
func (t *Table) Promise() string {
	if t.Seeded > 0 {
		return "no guarantee, because of seeds"
	}
	promise := t.Guarantee.String()
	if t.Records > 0 {
		promise += ", about one record and not about all records of a client"
	}
	return promise
}

// File is one form of a table.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Files returns all forms: estimates.csv, estimates.json and one .npy file per column.
func (t *Table) Files() []File {
	files := []File{{"estimates.csv", t.WriteCSV}, {"estimates.json", t.WriteJSON}}
	for _, c := range t.Columns {
		files = append(files, File{c.Name + ".npy", func(w io.Writer) error { return npy.Write(w, c.Values) }})
	}
	return files
}

// WriteCSV writes a line of names and a line for every key.
func (t *Table) WriteCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	record := []string{"key"}
	for _, c := range t.Columns {
		record = append(record, c.Name)
	}
	if err := w.Write(record); err != nil {
		return err
	}
	for j := range t.Dim {
		record[0] = t.Name(j)
		for i, c := range t.Columns {
			record[i+1] = strconv.FormatFloat(c.Values[j], 'g', -1, 64)
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// WriteJSON writes an object with the estimates, the number of reports and what they promised.
func (t *Table) WriteJSON(w io.Writer) error {
	rows := make([]map[string]any, t.Dim)
	for j := range rows {
		rows[j] = map[string]any{"key": t.Name(j)}
		for _, c := range t.Columns {
			rows[j][c.Name] = c.Values[j]
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	fields := map[string]any{"reports": t.Reports, "guarantee": t.Promise(), "estimates": rows}
	if t.Records > 0 {
		fields["records"] = t.Records
	}
	if len(t.Suspects) > 0 {
		names := make([]string, len(t.Suspects))
		for i, j := range t.Suspects {
			names[i] = t.Name(j)
		}
		fields["suspects"] = names
	}
	if t.Seeded > 0 {
		fields["guarantee"], fields["seeded_reports"], fields["note"] = nil, t.Seeded, SeededNote
	}
	return encoder.Encode(fields)
}
