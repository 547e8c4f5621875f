package histograms

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"reflect"
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
	if !reflect.DeepEqual(results[0].Rows, results[1].Rows) || len(results[0].Rows) != len(settings)*len(methods) || len(results[0].Verdicts) != 8 {
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

// Categories have their shares, within 6 standard deviations (probability below 1e-7),
// and only correlated ones follow the demands.
func TestPopulations(t *testing.T) {
	const n = 20_000
	for _, correlated := range []bool{true, false} {
		p := newPopulation(n, 5, correlated, rand.New(rand.NewChaCha8([32]byte{7})))
		for c, share := range p.truth {
			want := float64(c+1) / 15
			if math.Abs(share-want) > 6*math.Sqrt(want*(1-want)/n) {
				t.Errorf("correlated %t: category %d has %g, want %g", correlated, c, share, want)
			}
		}
		ordered := 0
		for i := 1; i < n; i++ {
			if (p.eps[i] > p.eps[i-1]) == (p.values[i] > p.values[i-1]) || p.values[i] == p.values[i-1] {
				ordered++
			}
		}
		if correlated != (ordered == n-1) {
			t.Errorf("correlated %t: %d of %d neighbours are in one order", correlated, ordered, n-1)
		}
	}
}
