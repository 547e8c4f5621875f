package keyvalues

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
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
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		return do(ctx, env)
	}
	t.Fatalf("no experiment %s", name)
	return nil, nil
}

// All figures in one run are what they are alone, and settings that they share are
// measured once.
func TestFiguresTogetherAreTheFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	checkpoint, err := experiment.OpenCheckpoint(path, "bench")
	if err != nil {
		t.Fatal(err)
	}
	env := experiment.Env{Seed: 5, Quick: true, Jobs: 2, Checkpoint: checkpoint}
	all, err := start(t, t.Context(), "figs6-16", env, "-clients", "300")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checkpoint.Close(false), all.Validate()); err != nil {
		t.Fatal(err)
	}
	// The command, and 2 dimensions × 2 sparsities × 3 ε × 8 settings: CoCo has two, for
	// the numbers of slots differ everywhere in this grid.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if parts := bytes.Count(text, []byte("\n")); parts != 1+96 {
		t.Errorf("%d parts, want 97", parts)
	}
	if len(all.Verdicts) != 55 || len(all.Plot.Panels) != 22 {
		t.Errorf("%d verdicts and %d panels, want 55 and 22", len(all.Verdicts), len(all.Plot.Panels))
	}
	rows := map[int][]experiment.Row{}
	for _, row := range all.Rows {
		number := row[0].(int)
		rows[number] = append(rows[number], experiment.Row{row[3], row[4], row[5], row[7], row[8], row[9]})
	}
	verdicts := all.Verdicts
	for _, f := range figures {
		alone, err := run(t, t.Context(), f.number, experiment.Env{Seed: 5, Quick: true, Jobs: 1}, "300")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(alone.Rows, rows[f.number]) {
			t.Errorf("figure %d: the rows differ", f.number)
		}
		for i, v := range alone.Verdicts {
			if !strings.HasSuffix(verdicts[i].Claim, ": "+v.Claim) || verdicts[i].Detail != v.Detail || verdicts[i].Holds != v.Holds {
				t.Errorf("figure %d: verdict %+v, alone %+v", f.number, verdicts[i], v)
			}
		}
		verdicts = verdicts[len(alone.Verdicts):]
	}
	var png bytes.Buffer
	if err := all.Plot.WritePNG(&png); err != nil {
		t.Error(err)
	}
}

// At the full settings, too, every figure has each point once and in order, though some
// of CoCo's rounds were asked for by figures of frequencies first.
func TestFiguresTogetherHaveEveryPointOnce(t *testing.T) {
	st, err := newStudy(newGrid(experiment.Env{}), figures)
	if err != nil {
		t.Fatal(err)
	}
	tasks, shared := 0, 0
	for _, at := range st.shapes {
		tasks += len(st.tasks[at])
		for _, s := range st.tasks[at] {
			if s.slots > 0 && s.width() == len(metricNames) {
				shared++
			}
		}
	}
	// 3 pairs of n and d, 4 sparsities, 9 ε, and 8 rounds each unless CoCo's are one.
	if tasks != 3*4*9*8-shared || shared == 0 {
		t.Errorf("%d tasks, %d of them CoCo's for everything", tasks, shared)
	}
	for _, f := range figures {
		cells := st.cells(f)
		mechanisms := 6
		if f.metric >= firstMean {
			mechanisms = 7
		}
		if len(cells) != mechanisms*36 {
			t.Errorf("figure %d: %d points, want %d", f.number, len(cells), mechanisms*36)
		}
		for i, c := range cells {
			if want := (cell{contender: i / 9 % mechanisms, epsilon: i % 9, sparsity: i / 9 / mechanisms}); c.contender != want.contender || c.epsilon != want.epsilon || c.sparsity != want.sparsity {
				t.Fatalf("figure %d: point %d is %+v, want %+v", f.number, i, *c, want)
			}
		}
	}
}

func TestRunsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"fig7", "figs6-16", "fig6-pckv", "fig7-pckv"} {
		if _, err := start(t, ctx, name, experiment.Env{Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
}
