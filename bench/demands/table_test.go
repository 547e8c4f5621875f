package demands

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/bench/hetero"
)

func quickly(t *testing.T, ctx context.Context, e experiment.Experiment, env experiment.Env) (*experiment.Result, error) {
	t.Helper()
	return e.Bind(flag.NewFlagSet(e.Name, flag.ContinueOnError))(ctx, env)
}

// A table is the same whatever the number of jobs, and goes on from a checkpoint without measuring again.
func TestTablesAreValidRepeatAndResume(t *testing.T) {
	for _, e := range []experiment.Experiment{table4(), table5()} {
		path := filepath.Join(t.TempDir(), "checkpoint")
		var results []*experiment.Result
		for i, env := range []experiment.Env{
			{Jobs: 2, Repeats: 2},
			{Jobs: 2, Repeats: 3}, // measured again, this would give other numbers
			{Jobs: 1, Repeats: 2},
		} {
			env.Seed, env.Quick = 2, true
			if i == 2 && (e.Name == "table4-hetero" || testing.Short()) { // the same code, and the longer table
				continue
			}
			if i < 2 {
				var err error
				if env.Checkpoint, err = experiment.OpenCheckpoint(path, "the command"); err != nil {
					t.Fatal(err)
				}
			}
			r, err := quickly(t, t.Context(), e, env)
			if err := errors.Join(err, env.Checkpoint.Close(false)); err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
		}
		if err := results[0].Validate(); err != nil {
			t.Error(err)
		}
		for _, r := range results[1:] {
			if !reflect.DeepEqual(results[0].Rows, r.Rows) {
				t.Errorf("%s: the rows differ between runs", e.Name)
			}
		}
		if len(results[0].Rows) < 50 || len(results[0].Verdicts) < 5 {
			t.Errorf("%s: %d rows, %d verdicts", e.Name, len(results[0].Rows), len(results[0].Verdicts))
		}
		for _, row := range results[0].Rows {
			if least, value, largest := row[9].(float64), row[6].(float64), row[10].(float64); !(0 < least && least <= value*(1+1e-12) && value <= largest*(1+1e-12)) {
				t.Errorf("%v", row)
			}
			if within := row[4] == quantile.String(); within != (row[13] != nil) {
				t.Errorf("lower bound: %v", row)
			}
			if careful := row[1] == carefulSet && row[4] == quantile.String() && row[5] == heuristic; careful != (row[14] != nil) || careful && !(row[13].(float64) < row[6].(float64) && row[6].(float64) < row[14].(float64)) {
				t.Errorf("upper bound: %v", row)
			}
		}
	}
}

func TestTablesStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Experiments() {
		if _, err := quickly(t, ctx, e, experiment.Env{Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want context.Canceled", e.Name, err)
		}
	}
	l := law{draw: func(*rand.Rand) *population {
		t.Error("data is drawn for nothing")
		return sorted.draw(100, 5, rand.New(rand.NewPCG(1, 2)))
	}}
	if _, err := l.measure(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("one data set: %v, want context.Canceled", err)
	}
}

// Squares of 1, …, 20 have the mean 143.5; the rank of the quantile is ⌈0.95·n⌉.
func TestMeasures(t *testing.T) {
	for n, want := range map[int]float64{1: 1, 2: 2, 19: 19, 20: 19, 21: 20, 40: 38, 41: 39, 1500: 1425} {
		var errors []float64
		for i := range n {
			errors = append(errors, float64(n-i))
		}
		if n == 20 && square.of(errors) != 143.5 {
			t.Errorf("mean square %g", square.of(errors))
		}
		if got := quantile.of(errors); got != want {
			t.Errorf("n = %d: %g, want %g", n, got, want)
		}
	}
}

// The published weights of every scheme: for equal demands all of them are equal, and the two
// surrogates have the objective that the paper gives them.
func TestSchemesWeighEqualDemandsEqually(t *testing.T) {
	eps := make([]float64, 50)
	for i := range eps {
		eps[i] = 0.7
	}
	for _, correlated := range []bool{true, false} {
		l := law{correlated: correlated, categories: 5}
		for _, s := range l.schemes() {
			for _, m := range measures {
				if s.weigh == nil {
					continue
				}
				w, err := s.weigh(&population{eps: eps, categories: 5}, m)
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range w {
					if math.Abs(x-0.02) > 1e-12 {
						t.Fatalf("%s: weight %g", s.name, x)
					}
				}
			}
		}
	}
}

// C-T minimises n·‖w−1/n‖₂² + L²·‖w/ε‖_∞², and U-T the minimum of that and the other objective.
func TestSurrogatesMinimiseTheirObjectives(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{7}))
	for range 50 {
		p := &population{eps: logUniform(30, 3, rng), categories: 5}
		l, err := quantile.factor(5)
		if err != nil {
			t.Fatal(err)
		}
		parts := func(w hetero.Weights) (square, scale float64) {
			for i, x := range w {
				square, scale = square+x*x, max(scale, x/p.eps[i])
			}
			return square, l * l * scale * scale
		}
		objectives := map[bool]func(hetero.Weights) float64{
			true:  func(w hetero.Weights) float64 { s, noise := parts(w); return 30*s - 1 + noise },
			false: func(w hetero.Weights) float64 { s, noise := parts(w); return min(30*s-1, l*s) + noise },
		}
		for correlated, objective := range objectives {
			weigh := map[bool]weigher{true: turboC, false: turboU}[correlated]
			w, err := weigh(p, quantile)
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				other, sum := make(hetero.Weights, 30), 0.
				rho := math.Exp(6*rng.Float64() - 3)
				for i, e := range p.eps {
					other[i] = min(e, rho)
					sum += other[i]
				}
				for i := range other {
					other[i] /= sum
				}
				if objective(other) < objective(w)*(1-1e-9) {
					t.Fatalf("correlated %t: %g, weights cut at %g have %g", correlated, objective(w), rho, objective(other))
				}
			}
		}
	}
}
