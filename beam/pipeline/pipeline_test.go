package pipeline

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	_ "github.com/hushgrad/hushgrad/coco"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/internal/reportfile"
)

// decoded counts what was stored between stages and read again. The SDK encodes some of the other
// elements, too, to learn their sizes.
var decoded struct{ batches, accumulators atomic.Int64 }

func TestMain(m *testing.M) {
	beam.RegisterCoder(reflect.TypeFor[Batch](), encodeBatch, countBatch)
	beam.RegisterCoder(reflect.TypeFor[Accumulator](), encodeAccumulator, countAccumulator)
	flag.Parse()
	beam.Init() // sets the loggers
	log.SetLogger(quiet{})
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// quiet is a logger of the SDK without output.
type quiet struct{}

func (quiet) Log(context.Context, log.Severity, int, string) {}

func countBatch(data []byte) (Batch, error) {
	decoded.batches.Add(1)
	return decodeBatch(data)
}

func countAccumulator(data []byte) (Accumulator, error) {
	decoded.accumulators.Add(1)
	return decodeAccumulator(data)
}

// world is a round with the reports of its clients.
type world struct {
	fl.Round
	fl.Mechanism
	reports [][]byte
}

func newWorld(t testing.TB, id string, clients int) *world {
	t.Helper()
	r, m, err := fl.Complete(fl.Round{
		ID: id, Mechanism: "coco", Dim: 50, Scale: 0.5, Epsilon: 4, MinReports: 2,
		Params: fl.Params{"sparsity": fl.Int(2)}, PublicSeed: [32]byte{1}, Columns: []string{fl.ColumnFrequency},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Round: r, Mechanism: m}
	rng := rand.New(rand.NewPCG(1, uint64(len(id))))
	for range clients {
		report, err := m.(fl.SparseMechanism).EncodeTernary(nil, fl.Ternary{Dim: 50, Index: []uint32{3, 4 + rng.Uint32N(46)}, Sign: []int8{1, -1}}, rng)
		if err != nil {
			t.Fatal(err)
		}
		w.reports = append(w.reports, report)
	}
	return w
}

// write writes reports from to to into a file and returns its name.
func (w *world) write(t testing.TB, from, to int, seeded bool) string {
	t.Helper()
	var data bytes.Buffer
	open := reportfile.NewWriter
	if seeded {
		open = reportfile.NewSeededWriter
	}
	out, err := open(&data, w.Round)
	for _, report := range w.reports[from:to] {
		err = errors.Join(err, out.Write(report))
	}
	err = errors.Join(err, out.Close())
	return file(t, data.Bytes(), err)
}

// csv returns lines of a CSV file, with ids after prefix, or without any for "".
func (w *world) csv(t testing.TB, from, to int, prefix string) string {
	t.Helper()
	digest, err := w.Digest()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i, report := range w.reports[from:to] {
		fmt.Fprintf(&text, "%x,%s", digest, base64.StdEncoding.EncodeToString(report))
		if prefix != "" {
			fmt.Fprintf(&text, ",%s%d", prefix, from+i)
		}
		text.WriteString("\n")
	}
	return text.String()
}

func file(t testing.TB, data []byte, err error) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "reports")
	if err := errors.Join(err, os.WriteFile(name, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return name
}

// estimate is the table of the estimate of reports from to to, by one aggregator.
func (w *world) estimate(t testing.TB, from, to int, seeded int64) *estimates.Table {
	t.Helper()
	a := w.NewAggregator()
	for _, report := range w.reports[from:to] {
		if err := a.Add(report); err != nil {
			t.Fatal(err)
		}
	}
	e, err := a.Estimate()
	if err != nil {
		t.Fatal(err)
	}
	table := estimates.Of(e)
	table.Seeded = seeded
	return table
}

// run runs the pipeline on Prism in this process and returns the directory of the results.
func run(t testing.TB, rounds []fl.Round, files ...string) (out string, err error) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	p, s := beam.NewPipelineWithRoot()
	if err := Build(s, Config{Rounds: rounds, Files: files, Out: out}); err != nil {
		t.Fatal(err)
	}
	_, err = beam.Run(t.Context(), "prism", p)
	return out, err
}

// equal fails unless a directory has exactly the files of a table, and Parquet.
func equal(t testing.TB, dir string, want *estimates.Table) {
	t.Helper()
	for _, f := range want.Files() {
		var data bytes.Buffer
		if err := f.Write(&data); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, f.Name)); err != nil || !bytes.Equal(got, data.Bytes()) {
			t.Errorf("%s: error %v; has other bytes than one aggregator gives: %.300s, want %.300s", f.Name, err, got, data.Bytes())
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want.Files())+1 {
		t.Errorf("%s: %v, error %v", dir, entries, err)
	}
}

// Two rounds, in files of both formats, in one run: each estimate has the bits of one aggregator.
func TestEstimatesHaveTheBitsOfOneAggregator(t *testing.T) {
	a, b := newWorld(t, "a", 30_000), newWorld(t, "bb", 9000)
	mixed := file(t, []byte("round,report\n"+a.csv(t, 20_000, 30_000, "")+b.csv(t, 0, 5000, "")), nil)
	named := file(t, []byte("round,report,id\n"+b.csv(t, 5000, 6000, "x")+a.csv(t, 19_000, 20_000, "x")+b.csv(t, 5500, 7000, "x")), nil)
	again := file(t, []byte("round,report,id\r\n"+b.csv(t, 6500, 7000, "x")), nil)
	out, err := run(t, []fl.Round{a.Round, b.Round}, a.write(t, 0, 12_000, false), mixed, named, a.write(t, 12_000, 19_000, true), again, b.write(t, 7000, 9000, false), b.write(t, 0, 0, false))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, filepath.Join(out, "a"), a.estimate(t, 0, 30_000, 7000))
	equal(t, filepath.Join(out, "bb"), b.estimate(t, 0, 9000, 0))
}

// Reports do not leave the worker that reads them: no batch is ever stored. Accumulators are stored
// instead, and their number does not depend on the number of reports.
func TestReportsAreCountedWhereTheyAreRead(t *testing.T) {
	w := newWorld(t, "w", 400_000)
	var accumulators []int64
	for _, clients := range []int{4000, 400_000} {
		decoded.batches.Store(0)
		decoded.accumulators.Store(0)
		if _, err := run(t, []fl.Round{w.Round}, w.write(t, 0, clients/2, false), w.write(t, clients/2, clients, false)); err != nil {
			t.Fatal(err)
		}
		if n := decoded.batches.Load(); n != 0 {
			t.Errorf("%d clients: %d batches were stored", clients, n)
		}
		accumulators = append(accumulators, decoded.accumulators.Load())
	}
	// Prism may split a bundle when it takes long; a bundle has at least one range.
	if slices.Min(accumulators) < 1 || slices.Max(accumulators) > 16 {
		t.Errorf("%d accumulators were stored, want a few", accumulators)
	}
}

// A round keeps its min_reports on a runner, too; a round without reports is an error.
func TestTooFewReportsAreNotEstimated(t *testing.T) {
	w, none := newWorld(t, "w", 2), newWorld(t, "none", 0)
	if _, err := run(t, []fl.Round{w.Round}, w.write(t, 0, 1, false)); err == nil || !strings.Contains(err.Error(), "round w: coco: estimate: too few reports") {
		t.Errorf("error %v", err)
	}
	if _, err := run(t, []fl.Round{w.Round, none.Round}, w.write(t, 0, 2, false)); err == nil || !strings.Contains(err.Error(), "round none: coco: estimate: no reports") {
		t.Errorf("error %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	w := newWorld(t, "w", 0)
	same := w.Round
	same.Scale = 1
	for param, c := range map[string]Config{
		"rounds": {Files: []string{"f"}, Out: "o"}, "files": {Rounds: []fl.Round{w.Round}, Out: "o"}, "out": {Rounds: []fl.Round{w.Round}, Files: []string{"f"}},
		"id": {Rounds: []fl.Round{{}}, Files: []string{"f"}, Out: "o"}, "sparsity": {Rounds: []fl.Round{w.Round, incomplete(same)}, Files: []string{"f"}, Out: "o"},
	} {
		_, s := beam.NewPipelineWithRoot()
		var p *fl.ParamError
		if err := Build(s, c); !errors.As(err, &p) || p.Param != param && param != "id" {
			t.Errorf("%s: error %v", param, err)
		}
	}
	_, s := beam.NewPipelineWithRoot()
	var p *fl.ParamError
	if err := Build(s, Config{Rounds: []fl.Round{w.Round, same}, Files: []string{"f"}, Out: "o"}); !errors.As(err, &p) || p.Param != "rounds" || p.Got != `"w"` {
		t.Errorf("two rounds of one id: error %v", err)
	}
}

// incomplete is a round without its parameters, and of another id.
func incomplete(r fl.Round) fl.Round {
	r.ID, r.Params = "incomplete", nil
	return r
}
