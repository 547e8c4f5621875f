package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/spf13/cobra"
	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/dictionary"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/internal/reportfile"
	"github.com/hushgrad/hushgrad/keyvalue"
	"github.com/hushgrad/hushgrad/sparse"
)

const encodeHelp = `Turns key-value pairs into reports, one per client, in random order. FILE has lines of
client,key,value (CSV) or, with the ending .jsonl, objects like

  {"client": "c1", "values": {"apples": 0.5}}

and - is standard input. Values are in [-1, 1].
A header may put the columns of a CSV in another order. Every client must be listed, also
one without pairs: by a line with its name alone, or with empty values in JSON lines.

With --server the round is one that is open there, and the reports are sent to it. A second
run after a failure makes new reports and spends their ε again. A round with a shuffler needs
the shuffler's address. --relay and --issuer-relay hide the client's address from these parties. --shuffler, --seal-key and --max-central-epsilon then say whom you trust
and what for: they hold only together, and no other round is accepted.
`

// encodeFlags are the flags of encode.
type encodeFlags struct {
	remote, issuer           remote
	relay, issuerRelay       relayed
	bearer                   string
	ahead                    []string
	maxEpsilon               float64
	pins                     pins
	ledger                   ledgerFlags
	inLog                    inLogFlags
	round, keys, format, out string
	strict                   bool
	seed                     uint64
	file                     string
	output                   output
}

func newEncode() *cobra.Command {
	c := newJob("encode --round ROUND [flags] FILE\n       hushgrad encode --server ADDRESS --round ID --max-epsilon E [flags] FILE",
		"turn key-value pairs into reports, or send them to a server", encodeHelp, &encodeFlags{})
	c.Args = oneArgument("file, or -,")
	return c
}

func (e *encodeFlags) bind(f *flag.FlagSet) {
	f.StringVar(&e.round, "round", "", "`file` with the complete round, see hushgrad round; with --server its id, empty: the newest open round")
	f.StringVar(&e.keys, "keys", "", "public dictionary: a `file` with one key per line; without it keys are numbers")
	command.OneOf(f, &e.format, "format", "", []string{"csv", "jsonl"}, "csv or jsonl; not given: by the file's ending")
	f.StringVar(&e.out, "out", "", "`file` for the reports; empty: standard output, unless that is a terminal; -: standard output")
	e.output.bind(f)
	f.BoolVar(&e.strict, "strict", false, "refuse clients with more pairs than a report of the round takes in; otherwise they are counted in a note")
	f.Uint64Var(&e.seed, "seed", 0, "0: fresh randomness for every client; any other value voids the guarantee, for experiments only")
	command.Topic(f, "A ledger", e.ledger.bind)
	command.Topic(f, "The server", func(f *flag.FlagSet) {
		e.remote.bind(f, "take the round from its clients' listener and send the reports there")
		e.relay.bind(f, "", "server", "take the round and send the reports through it, in place of --server, which does not see the client's address")
		f.Float64Var(&e.maxEpsilon, "max-epsilon", 0, "with --server: refuse a round in which a report costs more")
		e.inLog.bind(f)
	})
	command.Topic(f, "A shuffler", func(f *flag.FlagSet) {
		e.pins.bind(f, "with --server: `name` of the shuffler that is trusted not to work together with the server; --server is its address")
	})
	command.Topic(f, "An issuer", func(f *flag.FlagSet) {
		e.issuer.bindParty(f, "issuer", "issuer-", "hushgrad issue", "fetch a token for a round that asks for one, which is for one client's report")
		e.issuerRelay.bind(f, "issuer-", "issuer", "fetch the token through it, in place of --issuer")
		f.StringSliceVar(&e.ahead, "ahead", nil, "with --issuer and --ledger: comma-separated `ids` of open rounds whose tokens are fetched in the same call, and kept in the ledger for a later run")
		f.StringVar(&e.bearer, "bearer-file", "", "with --issuer: `file` with the secret by which the issuer knows the client")
	})
}

// run makes the reports, for a file or for a server.
func (e *encodeFlags) run(ctx context.Context, std command.Streams) error {
	if e.remotely() {
		return e.submit(ctx, std)
	}
	if e.out == "" && command.IsTerminal(std.Out) {
		return fl.Invalid("--out", "", "must be a file, or - for a terminal: reports are binary")
	}
	r, m, err := openRound(ctx, e.round, std.In)
	if err != nil {
		return err
	}
	people, err := e.read(ctx, r, m, std)
	if err != nil {
		return err
	}
	reports, err := e.ledger.charged(ctx, r, m, func() ([][]byte, error) { return e.reports(ctx, m, people, std) })
	if err != nil {
		return err
	}
	write := func(out io.Writer) error { return e.writeReports(out, r, reports) }
	if e.toStdout() {
		return write(command.Writer(ctx, std.Out))
	}
	if err := command.Replace(ctx, e.out, write); err != nil {
		return err
	}
	guarantee := m.Guarantee()
	made := encoded{Reports: len(reports), Round: r.ID, Guarantee: promisedBy(guarantee), File: e.out}
	text := guarantee.String()
	if e.seed != 0 {
		made.Guarantee, text = nil, "no guarantee, because of seeds"
	}
	return e.output.printf(std.Out, made, "%s under %s: in %s\n", counted(len(reports), "report"), text, e.out)
}

// toStdout says whether the reports themselves go to standard output.
func (e *encodeFlags) toStdout() bool { return e.out == "" || e.out == "-" }

// encoded is what encode did, for programs.
type encoded struct {
	Reports int    `json:"reports"`
	Round   string `json:"round"`
	// Guarantee is one report's guarantee, null for seeded reports.
	Guarantee *promised `json:"guarantee"`
	File      string    `json:"file,omitempty"`
	Server    string    `json:"server,omitempty"`
	Relay     string    `json:"relay,omitempty"`
	Shuffler  string    `json:"shuffler,omitempty"`
	// Central is the guarantee against the server of a round with a shuffler.
	Central *promised `json:"central_guarantee,omitempty"`
	// Ahead are other rounds whose tokens are in the ledger.
	Ahead []string `json:"ahead,omitempty"`
}

// writeReports writes a file of reports.
func (e *encodeFlags) writeReports(out io.Writer, r fl.Round, reports [][]byte) error {
	open := reportfile.NewWriter
	if e.seed != 0 {
		open = reportfile.NewSeededWriter
	}
	w, err := open(out, r)
	if err != nil {
		return err
	}
	for _, report := range reports {
		if err := w.Write(report); err != nil {
			return err
		}
	}
	return w.Close()
}

// reports makes one report per client, in random order.
func (e *encodeFlags) reports(ctx context.Context, m fl.Mechanism, people *clientPairs, std command.Streams) ([][]byte, error) {
	if e.seed != 0 {
		fmt.Fprintf(std.Err, "note: %s\n", estimates.SeededNote)
	}
	bar := progress.New(std.Err, "encoding")
	reports, err := encodeAll(ctx, m.(fl.KeyValueMechanism), people, e.stream, bar)
	bar.Close()
	if err != nil {
		return nil, err
	}
	e.stream(0).Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	return reports, nil
}

// read reads the pairs of all clients for a mechanism, which must take pairs.
func (e *encodeFlags) read(ctx context.Context, r fl.Round, m fl.Mechanism, std command.Streams) (*clientPairs, error) {
	if _, ok := m.(fl.KeyValueMechanism); !ok {
		return nil, fl.Invalid("--round", r.Mechanism, "must have a mechanism for key-value pairs")
	}
	keys, err := dictionary.Open(e.keys, r.Dim)
	if err != nil {
		return nil, err
	}
	name := e.file
	if name == "-" {
		name = "standard input"
	}
	bar := progress.New(std.Err, "reading")
	defer bar.Close()
	var people *clientPairs
	err = withInput(ctx, e.file, std.In, bar, func(in io.Reader) (err error) {
		people, err = readPairs(in, name, e.formatOfFile(), keys)
		return err
	})
	if err != nil {
		return nil, err
	}
	bar.Close()
	param, limit := pairsOf(r)
	if count, first := people.above(limit); count > 0 {
		if e.strict {
			return nil, fmt.Errorf("%s: client %q: %w", name, first, fl.Invalid("pairs", len(people.pairs[first]), "must be at most %d with --strict, the %s of the round; %d clients have more", limit, param, count))
		}
		fmt.Fprintf(std.Err, "note: %d of %d clients have more than %d pairs, the %s of the round. A report takes in no more: the rest is left out at random or clipped, and the frequencies and means of their keys come out too small.\n", count, len(people.order), limit, param)
	}
	return people, nil
}

// formatOfFile returns the format that --format gives, or the one that the name of the file says.
func (e *encodeFlags) formatOfFile() string {
	if filepath.Ext(e.file) == ".jsonl" {
		return cmp.Or(e.format, "jsonl")
	}
	return cmp.Or(e.format, "csv")
}

// pairsOf returns how many pairs of a client a report of the round takes in, and the name of
// the parameter that says so.
func pairsOf(r fl.Round) (param string, limit int) {
	for _, param := range []string{sparse.ParamSparsity, keyvalue.ParamPadding} {
		if limit, err := r.Params.Int(param); err == nil {
			return param, limit
		}
	}
	return "dim", r.Dim
}

// stream is the private randomness of client number i, from 1.
func (e *encodeFlags) stream(i int) *rand.Rand {
	if e.seed == 0 {
		return fl.NewRand()
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[0:], e.seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(i))
	return rand.New(rand.NewChaCha8(key))
}

// encodeAll makes one report per client.
func encodeAll(ctx context.Context, m fl.KeyValueMechanism, people *clientPairs, stream func(int) *rand.Rand, bar *progress.Bar) ([][]byte, error) {
	const chunk = 1024
	reports := make([][]byte, len(people.order))
	bar.Grow((len(reports) + chunk - 1) / chunk)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < len(reports); first += chunk {
		group.Go(func() error {
			defer bar.Step()
			var pairs []fl.KeyValue
			for i := first; i < min(first+chunk, len(reports)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				pairs = people.of(i, pairs[:0])
				var err error
				if reports[i], err = m.EncodeKeyValues(nil, pairs, stream(i+1)); err != nil {
					return fmt.Errorf("client %q: %w", people.order[i], err)
				}
			}
			return nil
		})
	}
	return reports, group.Wait()
}
