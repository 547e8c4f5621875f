package histograms

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"reflect"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
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
	if !reflect.DeepEqual(results[0].Rows, results[1].Rows) || len(results[0].Rows) != len(settings)*len(methods) || len(results[0].Verdicts) != 3*len(settings) {
		t.Errorf("%d rows, %d verdicts", len(results[0].Rows), len(results[0].Verdicts))
	}
	for _, row := range results[0].Rows {
		if q, mse := row[4].(float64), row[6].(float64); !(q > 0 && mse > 0 && mse <= q*q+1e-12) {
			t.Errorf("%v", row)
		}
	}
	for i, panel := range results[0].Plot.Panels {
		marks := 0
		for _, s := range panel.Series {
			for j, y := range s.Y {
				marks++
				if len(s.YLow) != len(s.Y) || !(s.YLow[j] < y && y < s.YHigh[j]) {
					t.Errorf("panel %d: %s has no error bar at %g", i, s.Name, y)
				}
			}
		}
		if marks != len(panel.Categories) || marks != len(methods)-4 {
			t.Errorf("panel %d: %d marks in %d categories", i, marks, len(panel.Categories))
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

// Every setting has verdicts on A, on the weights made for it and on these calibrated.
func TestClaims(t *testing.T) {
	scores := make([][]score, len(settings))
	for i := range scores {
		scores[i] = make([]score, len(methods))
	}
	verdicts := report(scores, 1, 1).Verdicts
	for i, s := range settings {
		own := "C"
		if s.dependence == uncorrelated {
			own = "U"
		}
		for j, name := range []string{"A", own, "calibrated " + own} {
			if got, want := verdicts[3*i+j].Claim, s.String()+": "+name+" is not beaten by Prop, UNI, SM or LDP"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
