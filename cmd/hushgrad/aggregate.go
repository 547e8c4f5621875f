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
	"github.com/hushgrad/hushgrad/fl/reportfile"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/npy"
)

const aggregateUsage = `Usage: hushgrad aggregate -round ROUND [flags] REPORTS...
       hushgrad aggregate -server ADDRESS -round ID [-close | -wait] [flags]

Estimates frequencies and means from reports files, or asks a server for the estimates
of a round that is closed there. Without -out it prints CSV; with
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

// aggregateFlags are the flags of aggregate.
type aggregateFlags struct {
	remote           remote
	close, wait      bool
	round, keys, out string
	files            []string
}

func parseAggregate(args []string, stderr io.Writer) (*aggregateFlags, error) {
	a := &aggregateFlags{}
	f := flag.NewFlagSet("hushgrad aggregate", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, aggregateUsage)
		f.PrintDefaults()
	}
	a.remote.bind(f, "take the estimates from its operator's listener")
	f.BoolVar(&a.close, "close", false, "with -server: close the round first")
	f.BoolVar(&a.wait, "wait", false, "with -server: wait until the round is closed")
	f.StringVar(&a.round, "round", "", "`file` with the complete round, see hushgrad round; with -server its id")
	f.StringVar(&a.keys, "keys", "", "public dictionary: a `file` with one key per line")
	f.StringVar(&a.out, "out", "", "`directory` for the results")
	if err := command.Parse(f, args); err != nil {
		return nil, err
	}
	a.files = f.Args()
	return a, a.validate()
}

func aggregate(ctx context.Context, args []string, std command.Streams) error {
	a, err := parseAggregate(args, std.Err)
	if err != nil {
		return err
	}
	var e *estimates
	if a.remote.server != "" {
		e, err = a.fetch(ctx)
	} else {
		e, err = a.count(ctx, std.In)
	}
	if err != nil {
		return err
	}
	if a.out == "" {
		return e.writeCSV(std.Out)
	}
	return e.write(a.out, std.Out)
}

// count aggregates reports files.
func (a *aggregateFlags) count(ctx context.Context, stdin io.Reader) (*estimates, error) {
	r, m, err := openRound(a.round)
	if err != nil {
		return nil, err
	}
	names, err := readDictionary(a.keys, r.Dim)
	if err != nil {
		return nil, err
	}
	agg := m.NewAggregator()
	var count int64
	for _, name := range a.files {
		in := stdin
		if name != "-" {
			file, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			defer file.Close()
			in = file
		}
		n, err := addFile(ctx, in, r, m, agg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		count += n
	}
	if count < int64(r.MinReports) {
		return nil, fmt.Errorf("min_reports: got %d reports, rule: at least %d", count, r.MinReports)
	}
	e, err := estimate(agg)
	if err != nil {
		return nil, err
	}
	e.keys, e.dim = names, r.Dim
	return e, nil
}

// addFile counts the reports of one file and returns their number.
func addFile(ctx context.Context, in io.Reader, r fl.Round, m fl.Mechanism, agg fl.Aggregator) (count int64, err error) {
	file, err := reportfile.NewReader(in, r)
	if err != nil {
		return 0, err
	}
	const batchReports = 4096
	for end := false; !end; {
		var batch [][]byte
		for len(batch) < batchReports {
			report, err := file.Next()
			if errors.Is(err, io.EOF) {
				end = true
				break
			}
			if err != nil {
				return count, err
			}
			batch = append(batch, report)
		}
		if err := errors.Join(ctx.Err(), fl.AddBatch(m, agg, batch)); err != nil {
			return count, err
		}
		count += int64(len(batch))
	}
	return count, nil
}

// estimate decodes an aggregator: everything about key-value pairs if it can, and
// the mean otherwise.
func estimate(agg fl.Aggregator) (*estimates, error) {
	if kv, ok := agg.(fl.KeyValueAggregator); ok {
		got, err := kv.KeyValues()
		var unable *fl.ParamError
		if err == nil {
			return ofKeyValues(got), nil
		}
		if !errors.As(err, &unable) {
			return nil, err
		}
	}
	got, err := agg.Estimate()
	if err != nil {
		return nil, err
	}
	return ofMean(got), nil
}

func ofKeyValues(got *fl.KeyValueEstimate) *estimates {
	e := &estimates{reports: got.Reports, guarantee: got.Guarantee}
	for _, c := range []estimateColumn{
		{"frequency", got.Frequency.Value}, {"frequency_stderr", got.Frequency.StdErr},
		{"mean", got.Mean.Value}, {"mean_stderr", got.Mean.StdErr}, {"conditional_mean", got.Conditional},
	} {
		if len(c.values) > 0 {
			e.columns = append(e.columns, c)
		}
	}
	return e
}

func ofMean(got *fl.Estimate) *estimates {
	return &estimates{
		reports: got.Reports, guarantee: got.Guarantee,
		columns: []estimateColumn{{"mean", got.Value}, {"mean_stderr", got.StdErr}},
	}
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
