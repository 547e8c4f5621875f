package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/dictionary"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/server/client"
)

const aggregateHelp = `Estimates the columns of a round from files of reports, or asks a server for the estimates of a
round that is closed there. Without --out it prints CSV, with -o json what estimates.json has. With --out it writes estimates.csv,
estimates.json and one .npy file per column into a directory. The column mean is the sum of
the clients' values over all clients, frequency is the share of clients that hold the key,
and conditional is the mean value of those clients. A file that was cut, and the same file
given twice, are errors. Reports of encode --seed are counted, with a note that they promise
nothing.
`

// aggregateFlags are the flags of aggregate.
type aggregateFlags struct {
	remote           remote
	close, wait      bool
	round, keys, out string
	files            []string
	output           output
}

func newAggregate() *cobra.Command {
	c := newJob("aggregate --round ROUND [flags] REPORTS...\n       hushgrad aggregate --server ADDRESS --round ID [--close | --wait] [flags]",
		"turn reports into estimates, or fetch a server's estimates", aggregateHelp, &aggregateFlags{})
	c.Args = cobra.ArbitraryArgs
	return c
}

func (a *aggregateFlags) bind(f *flag.FlagSet) {
	f.StringVar(&a.round, "round", "", "`file` with the complete round, see hushgrad round; with --server its id")
	f.StringVar(&a.keys, "keys", "", "public dictionary: a `file` with one key per line")
	f.StringVar(&a.out, "out", "", "`directory` for the results")
	a.output.bind(f)
	command.Topic(f, "The server", func(f *flag.FlagSet) {
		a.remote.bind(f, "take the estimates from its operator's listener")
		f.BoolVar(&a.close, "close", false, "with --server: close the round first; a round with a shuffler when that has forwarded its reports")
		f.BoolVar(&a.wait, "wait", false, "with --server: wait until the round is closed")
	})
}

// run estimates from files or asks a server.
func (a *aggregateFlags) run(ctx context.Context, std command.Streams) (err error) {
	if a.out != "" { // before the work, not after it
		if err := os.MkdirAll(a.out, 0o755); err != nil {
			return fl.Invalid("--out", a.out, "must be a directory, or one that can be made: %v", err)
		}
	}
	var e *estimates.Table
	if a.remote.server != "" {
		e, err = a.fetch(ctx, std.Err)
	} else {
		e, err = a.count(ctx, std)
	}
	if err != nil {
		return err
	}
	if e.Seeded > 0 {
		fmt.Fprintf(std.Err, "note: %d of %d reports: %s\n", e.Seeded, e.Reports, estimates.SeededNote)
	}
	if a.out != "" {
		return writeEstimates(ctx, e, a.out, std.Out, &a.output)
	}
	if a.output == jsonOutput {
		return e.WriteJSON(command.Writer(ctx, std.Out))
	}
	return e.WriteCSV(command.Writer(ctx, std.Out))
}

// count aggregates reports files.
func (a *aggregateFlags) count(ctx context.Context, std command.Streams) (*estimates.Table, error) {
	r, m, err := openRound(ctx, a.round, std.In)
	if err != nil {
		return nil, err
	}
	if _, shared := m.(fl.SharedMechanism); shared {
		return nil, fl.Invalid("--round", r.Mechanism, "must have a mechanism whose reports go to one server: whoever has both shares reads the gradient")
	}
	names, err := dictionary.Open(a.keys, r.Dim)
	if err != nil {
		return nil, err
	}
	c := counting{round: r, mechanism: m, aggregator: m.NewAggregator(), files: map[[sha256.Size]byte]string{}}
	bar := progress.New(std.Err, "aggregating")
	defer bar.Close()
	for _, name := range a.files {
		err := withInput(ctx, name, std.In, bar, func(in io.Reader) error { return c.add(ctx, name, in) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	got, err := command.Await(ctx, c.aggregator.Estimate)
	if err != nil {
		return nil, err
	}
	e := estimates.Of(got)
	e.Name, e.Seeded = names.Name, c.seeded
	return e, nil
}

// validate checks the flags that --server needs or excludes.
func (a *aggregateFlags) validate(f *flag.FlagSet) error {
	a.files = f.Args()
	switch {
	case a.remote.server == "" && len(a.files) == 0:
		return fl.Invalid("arguments", 0, "at least one reports file, or -, is required")
	case a.remote.server == "" && (a.close || a.wait):
		return fl.Invalid("--close and --wait", true, "need --server")
	case a.remote.server == "" && a.round == "-" && slices.Contains(a.files, "-"):
		return fl.Invalid("--round", a.round, "must be a file when reports come from standard input")
	case a.remote.server != "" && len(a.files) > 0:
		return fl.Invalid("arguments", a.files[0], "only flags are allowed with --server")
	case a.remote.server != "" && a.round == "":
		return fl.Invalid("--round", "", "is required: the id of a round of the server")
	case a.close && a.wait:
		return fl.Invalid("--close and --wait", true, "must not be given together")
	}
	return a.remote.validate()
}

// quietFor is how long a command waits for somebody else before it says so.
const quietFor = 2 * time.Second

// fetch asks a server for the estimate of a round. When it has waited for a while, it says for what.
func (a *aggregateFlags) fetch(ctx context.Context, notes io.Writer) (e *estimates.Table, err error) {
	conn, err := a.remote.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	operator, server := client.NewOperator(conn), patience{notes: notes}
	if !a.close && !a.wait {
		return fetchEstimate(ctx, operator, a.round, false, a.keys)
	}
	var rounds []client.RoundStatus
	err = server.call(ctx, func() (err error) {
		rounds, err = operator.Rounds(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(rounds, func(r client.RoundStatus) bool { return r.Round.ID == a.round }); i >= 0 {
		defer time.AfterFunc(quietFor, func() { fmt.Fprintln(notes, waitingFor(rounds[i].Round)) }).Stop()
	}
	if a.close {
		err := server.call(ctx, func() error { return operator.CloseRound(ctx, a.round) })
		if ctx.Err() != nil {
			fmt.Fprintf(notes, "note: the server goes on closing round %q. The same command waits again, and hushgrad rounds abort %s ends it without an estimate\n", a.round, a.round)
		}
		if err != nil {
			return nil, err
		}
	}
	err = server.call(ctx, func() (err error) {
		e, err = fetchEstimate(ctx, operator, a.round, a.wait, a.keys)
		return err
	})
	return e, err
}

// waitingFor says what has to happen for a round to end.
func waitingFor(r fl.Round) string {
	if r.Shuffler == "" {
		return fmt.Sprintf("waiting for round %q to end. hushgrad rounds watch shows how many reports are in", r.ID)
	}
	return fmt.Sprintf("waiting for the shuffler %s to forward the reports of round %q. It does so once it holds %d reports, or its own floor where this is more. "+
		"The server sees none of them until then: hushgrad_shuffler_held_reports in the shuffler's metrics is their number, and its log has the floor", r.Shuffler, r.ID, r.MinReports)
}

// fetchEstimate asks for the estimate of a round, whose coordinates have names in the file keys.
func fetchEstimate(ctx context.Context, o *client.Operator, id string, wait bool, keys string) (*estimates.Table, error) {
	got, err := o.Estimate(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	e := estimates.Of(got)
	names, err := dictionary.Open(keys, e.Dim)
	if err != nil {
		return nil, err
	}
	e.Name = names.Name
	return e, nil
}
