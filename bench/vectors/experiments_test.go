package vectors

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hushgrad/hushgrad/internal/figure/paint"

	flag "github.com/spf13/pflag"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/command"
	"github.com/hushgrad/hushgrad/internal/figure"
	"github.com/hushgrad/hushgrad/privacy"
)

// results runs the experiments of these names.
func results(t *testing.T, names ...string) map[string]*experiment.Result {
	t.Helper()
	out := map[string]*experiment.Result{}
	for _, e := range Experiments() {
		if !slices.Contains(names, e.Name) {
			continue
		}
		f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
		run := e.Bind(f)
		if err := command.Parse(f, nil); err != nil {
			t.Fatal(err)
		}
		r, err := run(t.Context(), experiment.Env{Quick: true, Jobs: 2, Repeats: 20, Seed: 1})
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if err := paint.SVG(io.Discard, r.Plot); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		for _, v := range r.Verdicts {
			if n := utf8.RuneCountInString(v.Ours); n == 0 || n > 80 {
				t.Errorf("%s: %q is not for a cell of a table: %s", e.Name, v.Ours, v.Claim)
			}
		}
		out[e.Name] = r
	}
	return out
}

// Our bound is proved and beats the other proved ones, and the pair, which is not a
// bound, is below it.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("draws two experiments")
	}
	all := results(t, "fig2", "coverage")
	ratios := map[string]float64{}
	for _, row := range all["fig2"].Rows {
		if row[0] == 4 && row[1] == 10_000 && row[2] == 1.0 {
			ratios[row[3].(string)] = row[6].(float64)
		}
	}
	// Reference: central ε of Collision with s = 4, t = 17 at n = 10⁴, δ = 10⁻⁶ is about
	// 0.0335 (package privacy).
	if got := ratios[ours]; math.Abs(got-1/0.0335) > 0.1 || len(ratios) < 10 {
		t.Errorf("ratio %g of %d bounds, want about %g", got, len(ratios), 1/0.0335)
	}
	for name, ratio := range ratios {
		if name != ours && name != printed && ratio > ratios[ours]*1.01 && !math.IsNaN(ratio) {
			t.Errorf("%s amplifies %g times, ours %g", name, ratio, ratios[ours])
		}
	}
	for _, v := range all["fig2"].Verdicts {
		if !v.Holds && !strings.Contains(v.Claim, "saves") && !strings.Contains(v.Claim, "Theorem 5") {
			t.Errorf("%+v", v)
		}
		if strings.Contains(v.Claim, "our proved bound") && !strings.Contains(v.Detail, "at δ = 1e-08 ") {
			t.Errorf("a δ is missing: %+v", v)
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
		if len(panel.Series) != 11 {
			t.Errorf("%s: %d curves", panel.Title, len(panel.Series))
		}
	}
}

// The check values of Figure 4: rates at s = 8 and ε = 0.5, whatever the number of coordinates.
func TestCollisionRates(t *testing.T) {
	want := map[int][3]float64{18: {0.0667, 0.0475, 0.0556}, 28: {0.0476, 0.0323, 0.0357}, 40: {0.0353, 0.0233, 0.0250}}
	found := 0
	r := results(t, "fig4-wang")["fig4-wang"]
	for _, row := range r.Rows {
		if rates, ok := want[row[0].(int)]; ok {
			found++
			for i, rate := range rates {
				if math.Abs(row[i+1].(float64)-rate) > 0.00006 {
					t.Errorf("%d slots: %v, want %v", row[0], row, rates)
				}
			}
		}
	}
	if found != len(want) || !r.Verdicts[0].Holds {
		t.Errorf("%d of %d numbers of slots, %+v", found, len(want), r.Verdicts)
	}
}

// The least errors per number at d = 128, s = 8 and ε = 0.5, with the number of slots of each.
func TestSquaredErrors(t *testing.T) {
	r := results(t, "fig5-wang")["fig5-wang"]
	for _, want := range []struct {
		kind, mechanism string
		slots           int
		mse             float64
	}{{"Minus", "Collision", 30, 357}, {"Minus", "CoCo", 22, 298}, {"Item", "Collision", 30, 178}, {"Plus", "CoCo", 52, 607}, {"Item", "CoCo", 44, 246}} {
		slots, least := 0, math.Inf(1)
		for _, row := range r.Rows {
			if row[0] == want.kind && row[1] == want.mechanism && row[3].(float64) < least {
				slots, least = row[2].(int), row[3].(float64)
			}
		}
		if slots != want.slots || math.Abs(least-want.mse) > 0.75 {
			t.Errorf("%s, %s: %g with %d slots, want %g with %d", want.kind, want.mechanism, least, slots, want.mse, want.slots)
		}
	}
	for _, v := range r.Verdicts {
		if !v.Holds {
			t.Errorf("%+v", v)
		}
	}
	// The panels show the least errors, and not the errors of few slots. Both curves end at the same number.
	for i, panel := range r.Plot.Panels {
		if largest := []float64{2 * 357, 2 * 607, 2 * 246}[i]; math.Abs(panel.YRange[1]/largest-1) > 0.01 || !(panel.YRange[0] < []float64{298, 357, 178}[i]) {
			t.Errorf("%s: %v, want up to %g", panel.Title, panel.YRange, largest)
		}
		ends := map[float64]bool{}
		for _, s := range panel.Series {
			if s.Style == figure.Line {
				ends[s.X[len(s.X)-1]] = true
			}
		}
		if len(ends) != 1 || !ends[[]float64{64, 108, 64}[i]] {
			t.Errorf("%s: curves end at %v", panel.Title, ends)
		}
	}
}

// Errors of 10 and 8 per number at the best numbers of slots are 20 % apart, of 10 and 5 half.
func TestErrorsOfTheFigureAreJudged(t *testing.T) {
	of := func(mechanism string, kind int, errors ...float64) swept {
		return swept{mechanism, kind, []int{10, 12, 14}, errors, 14}
	}
	all := func(coco float64) []swept {
		return []swept{of("Collision", 0, 12, 10, 11), of("CoCo", 0, 2*coco, coco, coco), of("Collision", 1, 3, 2, 1), of("CoCo", 1, 2, 2, 2), of("Collision", 2, 1, 1, 1), of("CoCo", 2, 2, 2, 2)}
	}
	good, bad := fig5Verdicts(all(8)), fig5Verdicts(all(5))
	if !good[0].Holds || bad[0].Holds || good[0].Ours != "20.0 %, exact (t = 12 against 12)" || good[0].Detail != "27.3 % at the paper's own t (14 against 14)" {
		t.Errorf("%+v, %+v", good[0], bad[0])
	}
	// Collision's 11 is 10 % above the least, CoCo's 2 is larger than 1 and the least of its own.
	if !good[1].Holds || good[3].Holds || !good[4].Holds {
		t.Errorf("%+v", good)
	}
}

// A quarter less than the best earlier bound is what the paper claims, half is not; curves of the paper
// are no earlier ones. At another δ nothing is saved: each δ is a reading.
func TestSavings(t *testing.T) {
	at := func(delta, own float64) []amplification {
		return []amplification{{delta: delta, curves: []curve{
			{name: ours, ratio: []float64{own, 2 * own}}, {name: "clones", ratio: []float64{3, 6}}, {name: "worse", ratio: []float64{1, math.NaN()}},
			{name: "pair", ratio: []float64{6, 12}}, {name: printed, ratio: []float64{math.NaN(), math.NaN()}},
		}}}
	}
	got := fig2Verdicts([][]amplification{at(0.5, 4), at(0.1, 4)}, []float64{1, 2})[1:4]
	if got[0].Holds || got[0].Readings != (experiment.Share{Of: 2}) || !strings.HasPrefix(got[0].Ours, "50.0 % at δ = 0.5") || !got[2].Holds || got[2].Ours != "25.0 % at δ = 0.5" {
		t.Errorf("%+v", got)
	}
	got = fig2Verdicts([][]amplification{at(0.5, 4), at(0.1, 3)}, []float64{1, 2})[1:4]
	if got[2].Holds || got[2].Readings != (experiment.Share{Held: 1, Of: 2}) || !strings.Contains(got[2].Detail, "at δ = 0.5 25 % (25 to 25), privacy blanket, ours at δ = 0.1 0 % (0 to 0)") {
		t.Errorf("%+v", got)
	}
}

// A promise of twice the amplification that Theorem 6's neighbours allow is no bound, where there are 3s slots.
func TestThePrintedPairIsJudged(t *testing.T) {
	at := func(promised float64) []amplification {
		return []amplification{{sparsity: 4, curves: []curve{{name: ours, ratio: []float64{9, 9}}, {name: pair, ratio: []float64{10, 10}}, {name: printed, ratio: []float64{promised, promised}}}}}
	}
	// ε = 0.1 has fewer than 3s slots.
	if v := precisely(at(20), []float64{0.1, 1}); v.Holds || v.Ours != "below it in 1 of 1 settings, 0.5 times at least" {
		t.Errorf("%+v", v)
	}
	if v := precisely(at(10), []float64{0.1, 1}); !v.Holds {
		t.Errorf("%+v", v)
	}
	if v := precisely(at(math.NaN()), []float64{0.1, 1}); v.Holds {
		t.Errorf("nothing to compare: %+v", v)
	}
}

// The least advantage over a proved bound counts, in all panels, and the least amplification.
func TestBoundsOfTheFigureAreJudged(t *testing.T) {
	at := func(own float64, status privacy.Status) []amplification {
		return []amplification{{curves: []curve{{name: ours, status: privacy.Proved, ratio: []float64{9, 8}}}}, {curves: []curve{
			{name: ours, status: privacy.Proved, ratio: []float64{own, 3}}, {name: "clones", status: status, ratio: []float64{1.5, 2.5}},
		}}}
	}
	for _, c := range []struct {
		own    float64
		status privacy.Status
		best   bool
		ours   string
	}{{3, privacy.Proved, true, "at least 1.2 times"}, {1.2, privacy.Proved, false, "at least 0.8 times"}, {1.2, privacy.NotABound, true, "at least +Inf"}} {
		got := fig2Verdicts([][]amplification{at(c.own, c.status)}, []float64{1, 2})[4:]
		if got[0].Holds != c.best || !strings.HasPrefix(got[0].Ours, c.ours) || got[1].Holds != (c.own > 2) || !strings.HasSuffix(got[1].Ours, ", 3 at 2") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

func TestBadFlagsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		flag string
	}{
		{"fig2", []string{"--delta=0"}, "--delta"}, {"fig2", []string{"--delta=1"}, "--delta"}, {"fig2", []string{"--delta=NaN"}, "--delta"},
		{"fig5-wang", []string{"--dim=0"}, "--dim"}, {"fig5-wang", []string{"--dim=-7"}, "--dim"}, {"fig5-wang", []string{"--dim=200000000"}, "--dim"},
		{"fig5-wang", []string{"--sparsity=0"}, "--sparsity"}, {"fig5-wang", []string{"--sparsity=129"}, "--sparsity"},
		{"fig4-wang", []string{"--epsilon=0"}, "--epsilon"}, {"fig5-wang", []string{"--epsilon=0"}, "--epsilon"}, {"fig5-wang", []string{"--epsilon=21"}, "--epsilon"}, {"fig5-wang", []string{"--epsilon=NaN"}, "--epsilon"},
	} {
		for _, e := range Experiments() {
			if e.Name != c.name {
				continue
			}
			f := flag.NewFlagSet(e.Name, flag.ContinueOnError)
			run := e.Bind(f)
			if err := command.Parse(f, c.args); err != nil {
				t.Fatal(err)
			}
			var wrong *fl.ParamError
			if _, err := run(t.Context(), experiment.Env{Quick: true, Jobs: 1}); !errors.As(err, &wrong) || wrong.Param != c.flag {
				t.Errorf("%s %s: %v, want a ParamError for %s", c.name, c.args, err, c.flag)
			}
		}
	}
	// Bounds and exact errors are not drawn at random, and fig5-wang has nothing to make smaller.
	for _, e := range []experiment.Experiment{fig2(), fig4(), fig5()} {
		for _, name := range []string{experiment.FlagData, experiment.FlagRepeats, experiment.FlagSeed} {
			if !slices.Contains(e.Without, name) {
				t.Errorf("%s has --%s", e.Name, name)
			}
		}
		if quick := !slices.Contains(e.Without, experiment.FlagQuick); quick != (e.Name == "fig2") {
			t.Errorf("%s has --quick: %v", e.Name, quick)
		}
	}
}
