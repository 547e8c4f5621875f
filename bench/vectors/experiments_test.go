package vectors

import (
	"bytes"
	"flag"
	"math"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
)

func results(t *testing.T) map[string]*experiment.Result {
	t.Helper()
	out := map[string]*experiment.Result{}
	for _, e := range Experiments() {
		f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
		run := e.Bind(f)
		if err := f.Parse(nil); err != nil {
			t.Fatal(err)
		}
		r, err := run(t.Context(), experiment.Env{Quick: true, Jobs: 2})
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		var png bytes.Buffer
		if err := r.Plot.WritePNG(&png); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		out[e.Name] = r
	}
	return out
}

// Our bound is proved and beats the other proved ones, and the pair, which is not a
// bound, is below it.
func TestFigures(t *testing.T) {
	all := results(t)
	ratios := map[string]float64{}
	for _, row := range all["fig2"].Rows {
		if row[0] == 4 && row[1] == 10_000 && row[2] == 1.0 {
			ratios[row[3].(string)] = row[6].(float64)
		}
	}
	// Reference: central ε of Collision with s = 4, t = 17 at n = 10⁴, δ = 10⁻⁶ is about
	// 0.0335 (package privacy).
	if got := ratios[ours]; math.Abs(got-1/0.0335) > 0.1 || len(ratios) < 9 {
		t.Errorf("ratio %g of %d bounds, want about %g", got, len(ratios), 1/0.0335)
	}
	for name, ratio := range ratios {
		if name != ours && ratio > ratios[ours]*1.01 && !math.IsNaN(ratio) {
			t.Errorf("%s amplifies %g times, ours %g", name, ratio, ratios[ours])
		}
	}
	for _, v := range all["fig2"].Verdicts {
		if !v.Holds {
			t.Errorf("%s: %s", v.Claim, v.Detail)
		}
	}
	for _, row := range all["fig5-wang"].Rows {
		if mse, least := row[2].(float64), row[3].(float64); mse < least*(1-1e-12) {
			t.Errorf("%v slots have %g, below the least %g", row[1], mse, least)
		}
	}
}
