package vectors

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
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
		r, err := run(t.Context(), experiment.Env{Quick: true, Jobs: 2, Repeats: 20, Seed: 1})
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
	for _, panel := range all["fig2"].Plot.Panels {
		for j, s := range panel.Series {
			proved := strings.HasSuffix(s.Name, " (proved)")
			open := strings.HasSuffix(s.Name, " (conjectural)") || strings.HasSuffix(s.Name, " (not a bound)")
			if proved == open || (s.Style == figure.Dashed) != open {
				t.Errorf("%s: %q has style %d, want its status, and dashes unless it is proved", panel.Title, s.Name, s.Style)
			}
			if proved && j >= 8 { // beyond the colours lines are no longer solid
				t.Errorf("%s: %q is curve %d", panel.Title, s.Name, j)
			}
		}
		if len(panel.Series) != 10 {
			t.Errorf("%s: %d curves", panel.Title, len(panel.Series))
		}
	}
	for _, row := range all["fig5-wang"].Rows {
		if mse, least := row[2].(float64), row[3].(float64); mse < least*(1-1e-12) {
			t.Errorf("%v slots have %g, below the least %g", row[1], mse, least)
		}
	}
}

func TestBadFlagsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		flag string
	}{
		{"fig2", []string{"-delta=0"}, "-delta"}, {"fig2", []string{"-delta=1"}, "-delta"}, {"fig2", []string{"-delta=NaN"}, "-delta"},
		{"fig5-wang", []string{"-dim=0"}, "-dim"}, {"fig5-wang", []string{"-dim=-7"}, "-dim"}, {"fig5-wang", []string{"-dim=200000000"}, "-dim"},
		{"fig5-wang", []string{"-sparsity=0"}, "-sparsity"}, {"fig5-wang", []string{"-sparsity=129"}, "-sparsity"},
		{"fig5-wang", []string{"-epsilon=0"}, "-epsilon"}, {"fig5-wang", []string{"-epsilon=21"}, "-epsilon"}, {"fig5-wang", []string{"-epsilon=NaN"}, "-epsilon"},
	} {
		for _, e := range Experiments() {
			if e.Name != c.name {
				continue
			}
			f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
			run := e.Bind(f)
			if err := f.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			var wrong *fl.ParamError
			if _, err := run(t.Context(), experiment.Env{Quick: true, Jobs: 1}); !errors.As(err, &wrong) || wrong.Param != c.flag {
				t.Errorf("%s %s: %v, want a ParamError for %s", c.name, c.args, err, c.flag)
			}
		}
	}
	// Bounds and exact errors are not drawn at random, and fig5-wang has nothing to make smaller.
	for _, e := range []experiment.Experiment{fig2(), fig5()} {
		for _, name := range []string{experiment.FlagData, experiment.FlagRepeats, experiment.FlagSeed} {
			if !slices.Contains(e.Without, name) {
				t.Errorf("%s has -%s", e.Name, name)
			}
		}
		if quick := !slices.Contains(e.Without, experiment.FlagQuick); quick != (e.Name == "fig2") {
			t.Errorf("%s has -quick: %v", e.Name, quick)
		}
	}
}
