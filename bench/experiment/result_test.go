package experiment_test

import (
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
