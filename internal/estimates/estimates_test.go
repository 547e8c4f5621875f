package estimates_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/internal/estimates"
	"github.com/hushgrad/hushgrad/internal/npy"
)

// estimate has two columns, one with standard errors.
func estimate() *fl.Estimate {
	e := fl.NewEstimate(fl.Round{}, fl.Guarantee{Trust: fl.Local, Epsilon: 2, Relation: fl.ReplaceOne}, 7, fl.Series{Value: []float64{0.5, -1. / 3}, StdErr: []float64{1, 2}})
	e.Columns = append(e.Columns, fl.Column{Name: fl.ColumnConditional, Series: fl.Series{Value: []float64{3, 4}}})
	return e
}

// All forms hold the same numbers with all their digits.
func TestFormsOfATable(t *testing.T) {
	e := estimate()
	e.Suspects = []int{1}
	table := estimates.Of(e)
	table.Name = func(j int) string { return fmt.Sprint("key", j) }
	got := map[string]*bytes.Buffer{}
	for _, f := range table.Files() {
		got[f.Name] = &bytes.Buffer{}
		if err := f.Write(got[f.Name]); err != nil {
			t.Fatal(err)
		}
	}
	if text := got["estimates.csv"].String(); text != "key,mean,mean_stderr,conditional\nkey0,0.5,1,3\nkey1,-0.3333333333333333,2,4\n" {
		t.Errorf("CSV %q", text)
	}
	var fields struct {
		Reports   int64
		Guarantee string
		Suspects  []string
		Estimates []map[string]any
	}
	if err := json.Unmarshal(got["estimates.json"].Bytes(), &fields); err != nil || fields.Reports != 7 || fields.Guarantee != table.Promise() || fields.Estimates[1]["mean"] != -1./3 || fields.Estimates[1]["key"] != "key1" || fmt.Sprint(fields.Suspects) != "[key1]" {
		t.Errorf("JSON %s, error %v", got["estimates.json"], err)
	}
	if v, err := npy.Read(got["conditional.npy"], 2); err != nil || v[1] != 4 || len(got) != 5 {
		t.Errorf("%d files, conditional %v, error %v", len(got), v, err)
	}
}

// With seeds there is no guarantee, and the file says so.
func TestSeedsVoidThePromise(t *testing.T) {
	table := estimates.Of(estimate())
	if !strings.Contains(table.Promise(), "ε=2") {
		t.Errorf("promise %q", table.Promise())
	}
	table.Seeded = 1
	var text bytes.Buffer
	if err := table.WriteJSON(&text); err != nil || table.Promise() != "no guarantee, because of seeds" || strings.Contains(text.String(), "ε=2") || !strings.Contains(text.String(), estimates.SeededNote) {
		t.Errorf("promise %q, JSON %s, error %v", table.Promise(), text.String(), err)
	}
}
