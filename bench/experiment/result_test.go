package experiment_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hushgrad/hushgrad/bench/experiment"
	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/figure"
)

func TestInvalidResults(t *testing.T) {
	a := []string{"a", "b"}
	for name, c := range map[string]struct {
		result experiment.Result
		param  string // "" for a valid one
	}{
		"nothing found":   {experiment.Result{Columns: a}, ""},
		"every kind":      {experiment.Result{Columns: a, Rows: []experiment.Row{{"x", 1.5}, {1, int64(2)}, {true, nil}}}, ""},
		"no columns":      {experiment.Result{}, "Columns"},
		"same names":      {experiment.Result{Columns: []string{"a", "b", "a"}}, "Columns[2]"},
		"empty name":      {experiment.Result{Columns: []string{""}}, "Columns[0]"},
		"short row":       {experiment.Result{Columns: a, Rows: []experiment.Row{{1, 2}, {1}}}, "Rows[1]"},
		"long row":        {experiment.Result{Columns: a, Rows: []experiment.Row{{1, 2, 3}}}, "Rows[0]"},
		"cell":            {experiment.Result{Columns: a, Rows: []experiment.Row{{1, float32(2)}}}, "Rows[0][b]"},
		"verdict":         {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c"}, {Holds: true}}}, "Verdicts[1].Claim"},
		"same claims":     {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c"}, {Claim: "c"}}}, "Verdicts[1].Claim"},
		"a paper's":       {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c", Section: "1", Quote: "q", Criterion: "1", Ours: "1"}}}, ""},
		"no quote":        {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c", Section: "1", Criterion: "1", Ours: "1"}}}, "Verdicts[0].Quote"},
		"a long quote":    {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c", Section: "1", Quote: "1 2 3 4 5 6 7 8 9 10 11", Criterion: "1", Ours: "1"}}}, "Verdicts[0].Quote"},
		"no criterion":    {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c", Section: "1", Quote: "q", Ours: "1"}}}, "Verdicts[0]"},
		"no number":       {experiment.Result{Columns: a, Verdicts: []experiment.Verdict{{Claim: "c", Section: "1", Quote: "q", Criterion: "1"}}}, "Verdicts[0]"},
		"invalid figure":  {experiment.Result{Columns: a, Plot: &figure.Figure{}}, "Plot.Panels"},
		"unfinished plot": {experiment.Result{Columns: a, Plot: &figure.Figure{Panels: make([]figure.Panel, 1)}}, ""},
	} {
		err := c.result.Validate()
		var wrong *fl.ParamError
		if c.param == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &wrong) || wrong.Param != c.param {
			t.Errorf("%s: %v, want a ParamError for %s", name, err, c.param)
		}
		if printErr := experiment.Print(io.Discard, &c.result); !errors.As(printErr, &wrong) {
			t.Errorf("%s: Print returns %v, want a ParamError", name, printErr)
		}
	}
}

// What all draws give is found, and what they do not depends on the draw: on how many of them a claim holds
// in, or whether in some readings only.
func TestOverDraws(t *testing.T) {
	yes, no := experiment.Verdict{Claim: "c", Holds: true}, experiment.Verdict{Claim: "c"}
	some := experiment.Verdict{Claim: "c", Readings: experiment.Share{Held: 1, Of: 2}}
	open := experiment.Verdict{Claim: "c", Holds: true, Missing: "data"}
	for want, draws := range map[string][]experiment.Verdict{
		"yes: c\n": {yes, yes, yes}, "no:  c\n": {no, no, no}, "depends on the draw (2 of 3): c\n": {yes, no, yes},
		"depends on the reading (1 of 2): c\n": {some, some, some}, "depends on the draw (0 of 3 in every reading): c\n": {no, some, no}, "cannot be settled: c (data)\n": {open, open, open},
	} {
		var all []*experiment.Result
		for _, v := range draws {
			all = append(all, &experiment.Result{Columns: []string{"a"}, Verdicts: []experiment.Verdict{v}})
		}
		r, err := experiment.OverSeeds(all)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := experiment.PrintVerdicts(&out, r); err != nil || out.String() != want {
			t.Errorf("%v, printed %q, want %q", err, out.String(), want)
		}
	}
	// The verdict itself counts, too, where draws are parts of it.
	if v, err := experiment.OverDraws([]experiment.Verdict{no}, [][]experiment.Verdict{{yes}, {yes}}); err != nil || v[0].Draws != (experiment.Share{Held: 2, Of: 2}) {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := experiment.OverDraws([]experiment.Verdict{yes}, [][]experiment.Verdict{{{Claim: "d"}}}); err == nil {
		t.Error("no error for draws with other claims")
	}
}
