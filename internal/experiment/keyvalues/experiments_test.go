package keyvalues

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/internal/experiment"
)

func run(t *testing.T, ctx context.Context, number int, env experiment.Env) (*experiment.Result, error) {
	t.Helper()
	for i, f := range figures {
		if f.number != number {
			continue
		}
		e := Experiments()[i]
		flags := flag.NewFlagSet(e.Name, flag.ContinueOnError)
		do := e.Bind(flags)
		if err := flags.Parse([]string{"-clients", "400"}); err != nil {
			t.Fatal(err)
		}
		return do(ctx, env)
	}
	t.Fatalf("no figure %d", number)
	return nil, nil
}

// Every kind of figure gives valid rows, verdicts and a picture, the same whatever the
// number of jobs, and goes on from a checkpoint.
func TestFiguresRunRepeatAndResume(t *testing.T) {
	for _, number := range []int{6, 9, 12, 16} {
		var results []*experiment.Result
		path := filepath.Join(t.TempDir(), "checkpoint")
		for _, jobs := range []int{1, 2, 2} {
			env := experiment.Env{Seed: 5, Quick: true, Jobs: jobs}
			if len(results) > 0 {
				var err error
				if env.Checkpoint, err = experiment.OpenCheckpoint(path, "bench"); err != nil {
					t.Fatal(err)
				}
			}
			r, err := run(t, t.Context(), number, env)
			if err != nil {
				t.Fatalf("figure %d: %v", number, err)
			}
			if err := env.Checkpoint.Close(false); err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		if err := results[0].Validate(); err != nil {
			t.Errorf("figure %d: %v", number, err)
		}
		for _, r := range results[1:] {
			if !reflect.DeepEqual(results[0].Rows, r.Rows) {
				t.Errorf("figure %d: the rows differ between runs", number)
			}
		}
		mechanisms := map[any]bool{}
		for _, row := range results[0].Rows {
			mechanisms[row[2]] = true
			if e := row[3].(float64); !(e > 0 && e < 1e5) {
				t.Errorf("figure %d: %v", number, row)
			}
		}
		want := 6
		if number >= 12 {
			want = 7
		}
		if len(mechanisms) != want || len(results[0].Verdicts) != 5 {
			t.Errorf("figure %d: mechanisms %v, %d verdicts", number, mechanisms, len(results[0].Verdicts))
		}
		var png bytes.Buffer
		if err := results[0].Plot.WritePNG(&png); err != nil {
			t.Errorf("figure %d: %v", number, err)
		}
	}
}

func TestFiguresStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(t, ctx, 7, experiment.Env{Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// What the population says it holds is what its users hold.
func TestPopulationKnowsItself(t *testing.T) {
	p, err := newPopulation(500, 40, 3, rand.New(rand.NewChaCha8([32]byte{7})))
	if err != nil {
		t.Fatal(err)
	}
	held, sum := make([]float64, 40), make([]float64, 40)
	for _, pairs := range p.pairs {
		if len(pairs) != 3 {
			t.Fatalf("%d pairs, want 3", len(pairs))
		}
		for i, q := range pairs {
			if i > 0 && pairs[i-1].Key >= q.Key || math.Abs(q.Value) != 1 {
				t.Fatalf("pairs %v", pairs)
			}
			held[q.Key] += 1. / 500
			sum[q.Key] += q.Value / 500
		}
	}
	for k := range held {
		if math.Abs(held[k]-p.held[k]) > 1e-12 || math.Abs(sum[k]-p.sum[k]) > 1e-12 {
			t.Errorf("key %d: %g and %g, want %g and %g", k, p.held[k], p.sum[k], held[k], sum[k])
		}
	}
	if p.held[0] < 2*p.held[39] {
		t.Errorf("the first key has %g, the last %g", p.held[0], p.held[39])
	}
}
