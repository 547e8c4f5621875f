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
	"github.com/hushgrad/hushgrad/server/client"
)

const aggregateUsage = `Usage: hushgrad aggregate -round ROUND [flags] REPORTS...
       hushgrad aggregate -server ADDRESS -round ID [-close | -wait] [flags]

Estimates the columns of a round from files of reports, or asks a server for those of a
round that is closed there. Without -out it prints CSV. With -out it writes estimates.csv,
estimates.json and one .npy file per column into a directory. The column mean is the sum of
the clients' values over all clients, frequency is the share of clients that hold the key,
and conditional is the mean value of those clients.

`

// estimates is what a round estimated, by key.
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
	got, err := agg.Estimate()
	if err != nil {
		return nil, err
	}
	e := tabulate(got)
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

// validate checks the flags that -server needs or excludes.
func (a *aggregateFlags) validate() error {
	switch {
	case a.remote.server == "" && len(a.files) == 0:
		return fl.Invalid("arguments", 0, "at least one reports file, or -, is required")
	case a.remote.server == "" && (a.close || a.wait):
		return fl.Invalid("-close and -wait", true, "need -server")
	case a.remote.server != "" && len(a.files) > 0:
		return fl.Invalid("arguments", a.files[0], "only flags are allowed with -server")
	case a.remote.server != "" && a.round == "":
		return fl.Invalid("-round", "", "is required: the id of a round of the server")
	case a.close && a.wait:
		return fl.Invalid("-close and -wait", true, "must not be given together")
	}
	return a.remote.validate()
}

// fetch asks a server for the estimate of a round.
func (a *aggregateFlags) fetch(ctx context.Context) (*estimates, error) {
	conn, err := a.remote.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	operator := client.NewOperator(conn)
	if a.close {
		if err := operator.CloseRound(ctx, a.round); err != nil {
			return nil, err
		}
	}
	got, err := operator.Estimate(ctx, a.round, a.wait)
	if err != nil {
		return nil, err
	}
	e := tabulate(got)
	e.dim = len(e.columns[0].values)
	if e.keys, err = readDictionary(a.keys, e.dim); err != nil {
		return nil, err
	}
	return e, nil
}
