package fltest_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
	"github.com/hushgrad/hushgrad/fl/fltest"
)

func init() {
	fl.Register("toy", toyFactory{})
}

func round(mechanism string) fl.Round {
	return fl.Round{
		ID: "r", Mechanism: mechanism, Dim: 20, Scale: 0.5, Epsilon: 4, Relation: fl.ReplaceOne, MinReports: 12,
		PublicSeed: [32]byte{1}, Columns: []string{fl.ColumnMinus, fl.ColumnPlus},
	}
}

func TestTheToyKeepsTheContract(t *testing.T) {
	meanOnly, one := round("toy"), round("toy")
	meanOnly.Columns = nil
	one.Dim, one.MinReports = 2, 1
	for what, r := range map[string]fl.Round{"columns": round("toy"), "mean only": meanOnly, "small": one} {
		if err := fltest.Mechanism(r, fltest.Options{}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := fltest.Mechanism(round("toy"), fltest.Options{Gradients: [][]float64{make([]float64, 20)}, Reports: 13, Seed: [32]byte{7}}); err != nil {
		t.Errorf("with options: %v", err)
	}
}

// A mechanism that is biased by design says so.
func TestABiasCanBeByDesign(t *testing.T) {
	r := round(register(plainFactory{local, func(e *fl.Estimate) { e.Columns[0].Value[3] += 10 }}))
	r.Columns = nil
	if err := fltest.Mechanism(r, fltest.Options{}); err == nil || !strings.Contains(err.Error(), "fltest: unbiased: ") {
		t.Errorf("a bias was found as %v", err)
	}
	if err := fltest.Mechanism(r, fltest.Options{Biased: true}); err != nil {
		t.Error(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	many := round("toy")
	many.MinReports = 10_001
	for _, c := range []struct {
		round   fl.Round
		options fltest.Options
		param   string
	}{
		{round("toy"), fltest.Options{Gradients: [][]float64{make([]float64, 20), make([]float64, 19)}}, "gradients"},
		{round("toy"), fltest.Options{Reports: 11}, "reports"},
		{round("toy"), fltest.Options{Reports: -1}, "reports"},
		{many, fltest.Options{}, "min_reports"},
		{round("no-such-mechanism"), fltest.Options{}, "mechanism"},
		{round("toy"), fltest.Options{Gradients: [][]float64{append(make([]float64, 19), math.NaN())}}, "gradient"},
	} {
		var p *fl.ParamError
		if err := fltest.Mechanism(c.round, c.options); !errors.As(err, &p) || p.Param != c.param || !strings.HasPrefix(err.Error(), "fltest: ") {
			t.Errorf("%+v: error %v, want a ParamError for %s", c.options, err, c.param)
		}
	}
	many.MinReports = 15
	if err := fltest.Mechanism(many, fltest.Options{Reports: 15}); err != nil {
		t.Error(err)
	}
}
