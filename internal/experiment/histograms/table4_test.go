package histograms

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/internal/experiment"
)

func quickly(t *testing.T, ctx context.Context, env experiment.Env) (*experiment.Result, error) {
	t.Helper()
	return Experiments()[0].Bind(flag.NewFlagSet("table4-hetero", flag.ContinueOnError))(ctx, env)
}

func TestTableIsValidAndRepeats(t *testing.T) {
	var results []*experiment.Result
	for _, jobs := range []int{1, 2} {
		r, err := quickly(t, t.Context(), experiment.Env{Seed: 2, Quick: true, Repeats: 3, Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if err := results[0].Validate(); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(results[0].Rows, results[1].Rows) || len(results[0].Rows) != len(settings)*len(methods) || len(results[0].Verdicts) != 12 {
		t.Errorf("%d rows, %d verdicts", len(results[0].Rows), len(results[0].Verdicts))
	}
	for _, row := range results[0].Rows {
		if q, mse := row[4].(float64), row[5].(float64); !(q > 0 && mse > 0 && mse <= q*q+1e-12) {
			t.Errorf("%v", row)
		}
	}
	var png bytes.Buffer
	if err := results[0].Plot.WritePNG(&png); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := quickly(t, ctx, experiment.Env{Quick: true, Jobs: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// Categories have their shares, among users of small and of large ε, within 6 standard
// deviations (probability below 1e-7), and only sorted ones follow the demands.
func TestPopulations(t *testing.T) {
	const n = 20_000
	for _, d := range []dependence{uncorrelated, correlated, sorted} {
		p := newPopulation(n, 5, d, rand.New(rand.NewChaCha8([32]byte{7})))
		var low [5]float64
		for i, c := range p.values {
			if p.eps[i] < 1 {
				low[c] += 2. / n
			}
		}
		for c, share := range p.truth {
			want, wantLow := float64(c+1)/15, float64(c+1)/15
			if d == correlated {
				want, wantLow = 0.2, float64(5-c)/15
			}
			if math.Abs(share-want) > 6*math.Sqrt(want*(1-want)/n) {
				t.Errorf("%v: category %d has %g, want %g", d, c, share, want)
			}
			if d != sorted && math.Abs(low[c]-wantLow) > 6*math.Sqrt(2*wantLow/n) {
				t.Errorf("%v: category %d has %g of the strict users, want %g", d, c, low[c], wantLow)
			}
		}
		ordered := 0
		for i := 1; i < n; i++ {
			if (p.eps[i] > p.eps[i-1]) == (p.values[i] > p.values[i-1]) || p.values[i] == p.values[i-1] {
				ordered++
			}
		}
		if (d == sorted) != (ordered == n-1) {
			t.Errorf("%v: %d of %d neighbours are in one order", d, ordered, n-1)
		}
	}
}

// Squares of 1, …, 20 by hand: mean 143.5, variance Σ(i²−143.5)²/19 = 310821/19.
func TestScore(t *testing.T) {
	var errors []float64
	for i := range 20 {
		errors = append(errors, float64(20-i))
	}
	got := newScore(errors)
	if want := math.Sqrt(310821. / 19 / 20); got.quantile != 19 || got.mse != 143.5 || math.Abs(got.stderr-want) > 1e-9 {
		t.Errorf("%+v, want 19, 143.5 and %g", got, want)
	}
	if got := newScore([]float64{2}); got != (score{2, 4, 0}) {
		t.Errorf("one repeat: %+v", got)
	}
}

// A method beats the baselines when it is below each of them in both measures.
func TestBeats(t *testing.T) {
	equal := func() []score {
		scores := make([]score, len(methods))
		for j := range scores {
			scores[j] = score{2, 4, 0.5}
		}
		scores[0] = score{1, 1, 0.5}
		return scores
	}
	if v := beats(settings[0], equal(), "A"); !v.Holds {
		t.Errorf("%+v", v)
	}
	for j, m := range methods {
		if !slices.Contains(baselines, m.name) {
			continue
		}
		for _, better := range []score{{1, 4, 0.5}, {2, 1, 0.5}} {
			scores := equal()
			scores[j] = better
			if v := beats(settings[0], scores, "A"); v.Holds {
				t.Errorf("%s with %+v: %+v", m.name, better, v)
			}
		}
	}
}

// Every setting has a verdict on A and one on the weights made for it.
func TestClaims(t *testing.T) {
	scores := make([][]score, len(settings))
	for i := range scores {
		scores[i] = make([]score, len(methods))
	}
	for i, v := range report(scores, 1, 1).Verdicts {
		s, own := settings[i/2], "A"
		if i%2 == 1 {
			own = "C, PAC"
			if s.dependence == uncorrelated {
				own = "U, PAC"
			}
		}
		if want := s.String() + ": " + own + " beats Prop, UNI, SM and LDP"; v.Claim != want {
			t.Errorf("%q, want %q", v.Claim, want)
		}
	}
}
