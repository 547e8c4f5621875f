package keyvalues

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/internal/command"
)

// start runs an experiment by its name.
func start(t *testing.T, ctx context.Context, name string, env experiment.Env, args ...string) (*experiment.Result, error) {
	t.Helper()
	for _, e := range Experiments() {
		if e.Name != name {
			continue
		}
		flags := flag.NewFlagSet(e.Name, flag.ContinueOnError)
		do := e.Bind(flags)
		if err := command.Parse(flags, args); err != nil {
			t.Fatal(err)
		}
		return do(ctx, env)
	}
	t.Fatalf("no experiment %s", name)
	return nil, nil
}

// All figures in one run are what they are alone, and every simulation is done once.
func TestFiguresTogetherAreTheFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("runs what TestFiguresRunRepeatAndResume runs")
	}
	path := filepath.Join(t.TempDir(), "checkpoint")
	checkpoint, err := experiment.OpenCheckpoint(path, "bench")
	if err != nil {
		t.Fatal(err)
	}
	env := experiment.Env{Seed: 5, Quick: true, Jobs: 2, Repeats: 2, Checkpoint: checkpoint}
	all, err := start(t, t.Context(), "figs6-16", env, "--clients", "300")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkpoint.Close(false), all.Validate()); err != nil {
		t.Fatal(err)
	}
	// The command, and 3 pairs of n and d × 2 sparsities × 2 repeats.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if parts := bytes.Count(text, []byte("\n")); parts != 1+12 {
		t.Errorf("%d parts, want 13", parts)
	}
	if len(all.Plot.Panels) != 22 {
		t.Errorf("%d panels, want 22", len(all.Plot.Panels))
	}
	rows, verdicts := all.Rows, all.Verdicts
	for _, f := range figures {
		alone, err := start(t, t.Context(), fmt.Sprintf("fig%d", f.number), experiment.Env{Seed: 5, Quick: true, Repeats: 2, Jobs: 1}, "--clients", "300")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(alone.Rows, rows[:len(alone.Rows)]) || len(alone.Verdicts) > 0 && !reflect.DeepEqual(alone.Verdicts, verdicts[:len(alone.Verdicts)]) {
			t.Errorf("figure %d: the rows or verdicts differ", f.number)
		}
		rows, verdicts = rows[len(alone.Rows):], verdicts[len(alone.Verdicts):]
	}
	if len(rows) != 0 || len(verdicts) != 3+len(pairsOfFigures) {
		t.Errorf("%d more rows and %d more verdicts", len(rows), len(verdicts))
	}
	if err := paint.SVG(io.Discard, all.Plot); err != nil {
		t.Error(err)
	}
}

// The settings are the settings of the paper's figures, in which n and d differ as the metric does.
func TestFiguresAreThePapers(t *testing.T) {
	sizes := map[int][2]int{}
	for _, f := range figures {
		sizes[f.number] = [2]int{f.clients, f.dim}
	}
	large, wide, few := [2]int{100_000, 256}, [2]int{100_000, 512}, [2]int{10_000, 256}
	want := map[int][2]int{6: large, 7: large, 8: wide, 9: wide, 10: few, 11: few, 12: large, 13: large, 14: large, 15: wide, 16: few}
	if !reflect.DeepEqual(sizes, want) {
		t.Errorf("%v, want %v", sizes, want)
	}
	f := figures[10].sized(experiment.Env{Quick: true}, 0)
	g := figures[10].sized(experiment.Env{}, 300)
	if f.clients != 1000 || g.clients != 30 {
		t.Errorf("Figure 16 has %d clients in a quick run and %d with --clients 300", f.clients, g.clients)
	}
}

func TestRunsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"fig7", "figs6-16", "fig6-pckv", "fig9-pckv", "fig10-pckv"} {
		if _, err := start(t, ctx, name, experiment.Env{Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
}
