package keyvalues

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func run(t *testing.T, ctx context.Context, number int, env experiment.Env, clients string) (*experiment.Result, error) {
	t.Helper()
	return start(t, ctx, fmt.Sprintf("fig%d", number), env, "-clients", clients)
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
			r, err := run(t, t.Context(), number, env, "400")
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
		mechanisms, differ := map[any]bool{}, 0
		for _, row := range results[0].Rows {
			mechanisms[row[2]] = true
			if e := row[3].(float64); !(e > 0 && e < 1e5) {
				t.Errorf("figure %d: %v", number, row)
			}
			if row[5].(float64) > 0 {
				differ++
			}
		}
		// The largest error is a number of reports in units, and may come twice.
		if differ < len(results[0].Rows)/2 {
			t.Errorf("figure %d: in %d of %d rows only the repeats differ", number, differ, len(results[0].Rows))
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

// What the population says it holds is what its clients hold.
func TestPopulationKnowsItself(t *testing.T) {
	p, err := newPopulation(500, 40, 3, rand.New(rand.NewChaCha8([32]byte{7})))
	if err != nil {
		t.Fatal(err)
	}
	held, sum := make([]float64, 40), make([]float64, 40)
	if p.clients() != 500 {
		t.Fatalf("%d clients, want 500", p.clients())
	}
	for client := range 500 {
		pairs, x := p.pairs(nil, client), p.ternary(client)
		if len(pairs) != 3 {
			t.Fatalf("%d pairs, want 3", len(pairs))
		}
		for i, q := range pairs {
			if i > 0 && pairs[i-1].Key >= q.Key || math.Abs(q.Value) != 1 {
				t.Fatalf("pairs %v", pairs)
			}
			if x.Index[i] != q.Key || float64(x.Sign[i]) != q.Value {
				t.Fatalf("vector %v, pairs %v", x, pairs)
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
