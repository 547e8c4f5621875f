package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/npy"
)

const aggregateUsage = `Usage: hushgrad aggregate -round ROUND [flags] REPORTS...

Estimates frequencies and means from reports files. Without -out it prints CSV; with
-out it writes estimates.csv, estimates.json and one .npy file per column into a
directory. frequency is the share of users with the key, mean the sum of their values
over all users, conditional_mean their mean value.

`

// estimates is what a round told, by key.
type estimates struct {
	keys      *dictionary
	dim       int
	reports   int64
	guarantee fl.Guarantee
	columns   []estimateColumn
}

// estimateColumn is one number per key.
type estimateColumn struct {
	name   string
	values []float64
}

func aggregate(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("hushgrad aggregate", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, aggregateUsage)
		f.PrintDefaults()
	}
	round := f.String("round", "", "`file` with the complete round, see hushgrad round")
	keys := f.String("keys", "", "public dictionary: a `file` with one key per line")
	out := f.String("out", "", "`directory` for the results")
	if err := parseFlags(f, args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return fl.Invalid("arguments", 0, "at least one reports file, or -, is required")
	}
	r, m, digest, err := openRound(*round)
	if err != nil {
		return err
	}
	names, err := readDictionary(*keys, r.Dim)
	if err != nil {
		return err
	}
	agg := m.NewAggregator()
	var count int64
	for _, name := range f.Args() {
		in := stdin
		if name != "-" {
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			in = file
		}
		err := readReports(in, name, digest, func(batch [][]byte) error {
			count += int64(len(batch))
			return errors.Join(ctx.Err(), fl.AddBatch(m, agg, batch))
		})
		if err != nil {
			return err
		}
	}
	if count < int64(r.MinReports) {
		return fmt.Errorf("min_reports: got %d reports, rule: at least %d", count, r.MinReports)
	}
	e, err := estimate(agg, r, names)
	if err != nil {
		return err
	}
	if *out == "" {
		return e.writeCSV(stdout)
	}
	return e.write(*out, stdout)
}

// estimate decodes an aggregator: everything about key-value pairs if it can, and
// the mean otherwise.
func estimate(agg fl.Aggregator, r fl.Round, keys *dictionary) (*estimates, error) {
	e := &estimates{keys: keys, dim: r.Dim}
	if kv, ok := agg.(fl.KeyValueAggregator); ok {
		got, err := kv.KeyValues()
		var unable *fl.ParamError
		if err != nil && !errors.As(err, &unable) {
			return nil, err
		}
		if err == nil {
			e.reports, e.guarantee = got.Reports, got.Guarantee
			for _, c := range []estimateColumn{
				{"frequency", got.Frequency.Value}, {"frequency_stderr", got.Frequency.StdErr},
				{"mean", got.Mean.Value}, {"mean_stderr", got.Mean.StdErr}, {"conditional_mean", got.Conditional},
			} {
				if len(c.values) > 0 {
					e.columns = append(e.columns, c)
				}
			}
			return e, nil
		}
	}
	got, err := agg.Estimate()
	if err != nil {
		return nil, err
	}
	e.reports, e.guarantee = got.Reports, got.Guarantee
	e.columns = []estimateColumn{{"mean", got.Value}, {"mean_stderr", got.StdErr}}
	return e, nil
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

// write leaves all forms in a directory, which it makes.
func (e *estimates) write(dir string, stdout io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := save(filepath.Join(dir, "estimates.csv"), e.writeCSV)
	err = errors.Join(err, save(filepath.Join(dir, "estimates.json"), e.writeJSON))
	for _, c := range e.columns {
		err = errors.Join(err, save(filepath.Join(dir, c.name+".npy"), func(w io.Writer) error { return npy.Write(w, c.values) }))
	}
	if err == nil {
		fmt.Fprintf(stdout, "%d reports under %v: estimates.csv, estimates.json and %d .npy files in %s\n", e.reports, e.guarantee, len(e.columns), dir)
	}
	return err
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
	return encoder.Encode(map[string]any{"reports": e.reports, "guarantee": e.guarantee.String(), "estimates": rows})
}

func save(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
