package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/reportfile"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/progress"
	"github.com/hushgrad/hushgrad/server/client"
)

const encodeUsage = `Usage: hushgrad encode -round ROUND [flags] FILE
       hushgrad encode -server ADDRESS -round ID -max-epsilon E [flags] FILE

Turns key-value pairs into reports, one per client, in random order. FILE has lines of
client,key,value (CSV, header optional) or, with the ending .jsonl, objects like
{"client": "c1", "values": {"apples": 0.5}}; - is standard input. Values are in [-1, 1].
With -server the round is one that is open there, and the reports are sent to it. A second
run after a failure makes new reports and spends their ε again.

`

// encodeFlags are the flags of encode.
type encodeFlags struct {
	remote                   remote
	maxEpsilon               float64
	round, keys, format, out string
	seed                     uint64
	file                     string
}

func parseEncode(args []string, stderr io.Writer) (*encodeFlags, error) {
	e := &encodeFlags{}
	f := flag.NewFlagSet("hushgrad encode", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, encodeUsage)
		f.PrintDefaults()
	}
	e.remote.bind(f, "take the round from its clients' listener and send the reports there")
	f.Float64Var(&e.maxEpsilon, "max-epsilon", 0, "with -server: refuse a round in which a report costs more")
	f.StringVar(&e.round, "round", "", "`file` with the complete round, see hushgrad round; with -server its id, empty: the newest open round")
	f.StringVar(&e.keys, "keys", "", "public dictionary: a `file` with one key per line; without it keys are numbers")
	f.StringVar(&e.format, "format", "", "csv or jsonl; empty: by the file's ending")
	f.StringVar(&e.out, "out", "", "`file` for the reports; empty: standard output")
	f.Uint64Var(&e.seed, "seed", 0, "0: fresh randomness for every client; any other value voids the guarantee, for experiments only")
	if err := command.Parse(f, args); err != nil {
		return nil, err
	}
	if f.NArg() != 1 {
		return nil, fl.Invalid("arguments", f.NArg(), "exactly one file, or -, is required, see hushgrad encode -help")
	}
	if err := e.validate(); err != nil {
		return nil, err
	}
	e.file = f.Arg(0)
	if e.format == "" {
		e.format = "csv"
		if filepath.Ext(e.file) == ".jsonl" {
			e.format = "jsonl"
		}
	}
	return e, nil
}

func encode(ctx context.Context, args []string, std command.Streams) (err error) {
	e, err := parseEncode(args, std.Err)
	if err != nil {
		return err
	}
	if e.remote.server != "" {
		return e.submit(ctx, std.In, std.Out, std.Err)
	}
	r, m, err := openRound(e.round)
	if err != nil {
		return err
	}
	reports, err := e.reports(ctx, r, m, std.In, std.Err)
	if err != nil {
		return err
	}
	out := std.Out
	if e.out != "" {
		file, err := os.Create(e.out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		out = file
	}
	w, err := reportfile.NewWriter(out, r)
	if err != nil {
		return err
	}
	for _, report := range reports {
		if err := w.Write(report); err != nil {
			return err
		}
	}
	return w.Flush()
}

// reports reads the pairs and makes one report per client, in random order.
func (e *encodeFlags) reports(ctx context.Context, r fl.Round, m fl.Mechanism, stdin io.Reader, stderr io.Writer) ([][]byte, error) {
	kv, ok := m.(fl.KeyValueMechanism)
	if !ok {
		return nil, fl.Invalid("-round", r.Mechanism, "must have a mechanism for key-value pairs")
	}
	keys, err := readDictionary(e.keys, r.Dim)
	if err != nil {
		return nil, err
	}
	in := stdin
	if e.file != "-" {
		file, err := os.Open(e.file)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	people, err := readPairs(in, e.format, keys)
	if err != nil {
		return nil, err
	}
	bar := progress.New(stderr)
	bar.Describe("encoding")
	reports, err := encodeAll(ctx, kv, people, e.stream, bar)
	bar.Close()
	if err != nil {
		return nil, err
	}
	e.stream(0).Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	return reports, nil
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
			for i := first; i < min(first+chunk, len(reports)); i++ {
				if err := ctx.Err(); err != nil {
					return err
				}
				var err error
				if reports[i], err = m.EncodeKeyValues(nil, people.pairs[people.order[i]], stream(i+1)); err != nil {
					return fmt.Errorf("client %q: %w", people.order[i], err)
				}
			}
			return nil
		})
	}
	return reports, group.Wait()
}

// validate checks the flags that -server needs or excludes.
func (e *encodeFlags) validate() error {
	switch {
	case e.remote.server == "" && e.maxEpsilon != 0:
		return fl.Invalid("-max-epsilon", e.maxEpsilon, "needs -server")
	case e.remote.server != "" && !(e.maxEpsilon > 0):
		return fl.Invalid("-max-epsilon", e.maxEpsilon, "must be > 0 with -server: the largest ε of a report that is acceptable")
	case e.remote.server != "" && e.out != "":
		return fl.Invalid("-out", e.out, "must be empty with -server")
	}
	return e.remote.validate()
}

// submit encodes for a round of a server and sends the reports there.
func (e *encodeFlags) submit(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	conn, err := e.remote.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := client.New(conn, client.Options{Policy: fl.Policy{MaxEpsilon: e.maxEpsilon}})
	if err != nil {
		return err
	}
	part, err := c.Join(ctx, e.round)
	if err != nil {
		return err
	}
	reports, err := e.reports(ctx, part.Round(), part.Mechanism(), stdin, stderr)
	if err != nil {
		return err
	}
	receipt, err := part.Submit(ctx, reports)
	if err != nil {
		return err
	}
	// Duplicates are those that an interrupted attempt had already got counted.
	_, err = fmt.Fprintf(stdout, "%d reports under %v: counted in round %s\n", receipt.Accepted+receipt.Duplicates, part.Guarantee(), part.Round().ID)
	return err
}
