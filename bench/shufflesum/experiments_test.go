package shufflesum

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
)

// images writes a tiny data set in MNIST's format.
func images(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, count int) {
		rng := newRand()
		pixels := binary.BigEndian.AppendUint32(nil, 2051)
		labels := binary.BigEndian.AppendUint32(nil, 2049)
		pixels = binary.BigEndian.AppendUint32(pixels, uint32(count))
		labels = binary.BigEndian.AppendUint32(labels, uint32(count))
		pixels = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(pixels, 4), 4)
		for range count {
			labels = append(labels, byte(rng.IntN(10)))
			for range 16 {
				pixels = append(pixels, byte(rng.IntN(256)))
			}
		}
		for file, data := range map[string][]byte{"-images-idx3-ubyte": pixels, "-labels-idx1-ubyte": labels} {
			if err := os.WriteFile(filepath.Join(dir, name+file), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("train", 1500)
	write("t10k", 500)
	return dir
}

// quickly runs an experiment by name with its own flags.
func quickly(t *testing.T, ctx context.Context, name string, env experiment.Env, args ...string) (*experiment.Result, error) {
	t.Helper()
	for _, e := range Experiments() {
		if e.Name != name {
			continue
		}
		f := flag.NewFlagSet(name, flag.ContinueOnError)
		run := e.Bind(f)
		if err := command.Parse(f, args); err != nil {
			t.Fatal(err)
		}
		return run(ctx, env)
	}
	t.Fatalf("no experiment %s", name)
	return nil, nil
}

// Every experiment of the paper gives a valid result with verdicts and a figure, and the same
// one whatever the number of jobs.
func TestExperimentsRunAndRepeat(t *testing.T) {
	data := images(t)
	for _, e := range Experiments() {
		if e.Kind != experiment.OfPaper || testing.Short() && e.Name != "table4" {
			continue
		}
		args := []string{"--relation", "zeroout"}
		if e.Name == "table5" {
			args = append(args, "--dim", "32")
		}
		runs := []int{1, 2}
		if testing.Short() {
			runs = runs[1:]
		}
		var results []*experiment.Result
		for _, jobs := range runs {
			r, err := quickly(t, t.Context(), e.Name, experiment.Env{Data: data, Seed: 3, Quick: true, Repeats: 2, Jobs: jobs}, args...)
			if err != nil {
				t.Fatalf("%s: %v", e.Name, err)
			}
			results = append(results, r)
		}
		if err := results[0].Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if len(results[0].Verdicts) == 0 || len(results[0].Rows) == 0 {
			t.Errorf("%s: %d rows, %d verdicts", e.Name, len(results[0].Rows), len(results[0].Verdicts))
		}
		for _, v := range results[0].Verdicts {
			if (v.Section != "") != (v.Quote != "") || v.Criterion == "" || v.Ours == "" || utf8.RuneCountInString(v.Ours) > 140 {
				t.Errorf("%s: a claim that names no table, or cells that are empty or long: %+v", e.Name, v)
			}
		}
		if !reflect.DeepEqual(results[0].Rows, results[len(results)-1].Rows) {
			t.Errorf("%s: 1 and 2 jobs give different rows", e.Name)
		}
		if err := paint.SVG(io.Discard, results[0].Plot); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

// Under replace-one SumDP has half of the budget per sub-domain: its error is
// larger on the same data.
func TestReplaceOneCostsAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("accuracy does not depend on the race detector")
	}
	var errs [2]float64
	p := gauss(5, 5, clamped).draw(tableClients, tableBound, newRand()) // noise, hardly any dropping
	for i, relation := range []fl.Relation{fl.ZeroOut, fl.ReplaceOne} {
		s, err := newSummer(sumDPName, p, tableBound, 1, relation)
		if err != nil {
			t.Fatal(err)
		}
		o, err := run(t.Context(), experiment.Env{Seed: 1, Jobs: 2}, "", s, p, p.total(), paperRepeats, 4)
		if err != nil {
			t.Fatal(err)
		}
		errs[i] = o.err.Value
	}
	if ratio := errs[1] / errs[0]; !(ratio > 1.3) {
		t.Errorf("errors %v: replace-one is %.2f times worse, want about 2", errs, ratio)
	}
}

// A run that is resumed has the numbers of one that is not.
func TestCheckpointsKeepTheNumbers(t *testing.T) {
	for name, args := range map[string][]string{"table3": nil, "fig5": nil, "table5": {"--dim", "32"}} {
		path, env := filepath.Join(t.TempDir(), name+".checkpoint"), experiment.Env{Seed: 3, Quick: true, Repeats: 2, Jobs: 2}
		var rows [2][]experiment.Row
		for i := range rows {
			var err error
			if env.Checkpoint, err = experiment.OpenCheckpoint(path, "the command"); err != nil {
				t.Fatal(err)
			}
			env.Seed = 3
			r, err := quickly(t, t.Context(), name, env, args...)
			if err != nil {
				t.Fatal(err)
			}
			rows[i] = r.Rows
			if err := env.Checkpoint.Close(false); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil || !reflect.DeepEqual(rows[0], rows[1]) || strings.Count(string(text), "\n") < 4 {
			t.Errorf("%s: the second run does not have the numbers of the first, or the checkpoint has no parts, %v", name, err)
		}
	}
}

func TestExperimentsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Experiments() {
		if _, err := quickly(t, ctx, e.Name, experiment.Env{Data: images(t), Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", e.Name, err)
		}
	}
}

// Flags out of range are errors, before anything is drawn.
func TestBadFlagsAreErrors(t *testing.T) {
	for _, c := range []struct{ name, flag, value string }{
		{"table3", "--epsilon", "0"}, {"table3", "--epsilon", "-1"}, {"table3", "--epsilon", "21"}, {"table3", "--epsilon", "NaN"}, {"table3", "--epsilon", "+Inf"},
		{"table4", "--epsilon", "0"}, {"table4", "--epsilon", "21"}, {"table5", "--epsilon", "0"}, {"table5", "--epsilon", "21"},
		{"table5", "--dim", "1"}, {"table5", "--dim", "-7"}, {"table5", "--dim", "65537"}, {"table3", "--bound", "5"},
	} {
		_, err := quickly(t, t.Context(), c.name, experiment.Env{Data: "nowhere", Quick: true, Jobs: 1}, c.flag, c.value)
		var wrong *fl.ParamError
		if !errors.As(err, &wrong) || wrong.Param != c.flag {
			t.Errorf("%s %s %s: %v, want a ParamError for %s", c.name, c.flag, c.value, err, c.flag)
		}
	}
	for _, e := range Experiments() {
		if reads := !slices.Contains(e.Without, experiment.FlagData); reads != (e.Name == "table4") {
			t.Errorf("%s has --data: %v", e.Name, reads)
		}
	}
}

func TestMissingImagesAreNamed(t *testing.T) {
	_, err := quickly(t, t.Context(), "table4", experiment.Env{Data: t.TempDir(), Quick: true, Jobs: 1})
	if err == nil || !strings.Contains(err.Error(), "train-images") {
		t.Errorf("error %v, want one that names the missing file", err)
	}
}
