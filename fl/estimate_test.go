package fl

import (
	"math"
	"slices"
	"testing"
)

func TestColumnsAreFoundByName(t *testing.T) {
	r := Round{Mechanism: "any"}
	g := Guarantee{Trust: Local, Epsilon: 1, Relation: ReplaceOne}
	e := NewEstimate(r, g, 7, Series{Value: []float64{1, 2}, StdErr: []float64{3, 4}})
	if e.Reports != 7 || e.Mechanism != "any" || e.Guarantee != g || e.Tiers != nil {
		t.Errorf("%+v", e)
	}
	e.Columns = append(e.Columns, Column{ColumnPlus, Series{Value: []float64{5, 6}}}, Column{ColumnMinus, Series{Value: []float64{7, 8}}})
	if mean := e.Mean(); !slices.Equal(mean.Value, []float64{1, 2}) || !slices.Equal(mean.StdErr, []float64{3, 4}) {
		t.Errorf("Mean() = %+v", mean)
	}
	for name, first := range map[string]float64{ColumnMean: 1, ColumnPlus: 5, ColumnMinus: 7} {
		if s, ok := e.Column(name); !ok || s.Value[0] != first {
			t.Errorf("Column(%q) = %+v, %v", name, s, ok)
		}
	}
	if s, ok := e.Column(ColumnFrequency); ok || s.Value != nil || s.StdErr != nil {
		t.Errorf("a column that is not there: %+v, %v", s, ok)
	}
	if s := (&Estimate{}).Mean(); s.Value != nil {
		t.Errorf("the mean of an empty estimate: %+v", s)
	}
}

func TestTheNormOfTheNoiseIsThatOfTheStandardErrors(t *testing.T) {
	for _, c := range []struct {
		stdErr []float64
		want   float64
	}{
		{[]float64{3, 0, 4}, 5}, {[]float64{0, 0}, 0}, {[]float64{3e300, 4e300}, 5e300}, {[]float64{3e-300, 4e-300}, 5e-300},
	} {
		if got := NewEstimate(Round{}, Guarantee{}, 1, Series{StdErr: c.stdErr}).NoiseNorm; !(math.Abs(got-c.want) <= 1e-15*c.want) {
			t.Errorf("%v: norm %v, want %v", c.stdErr, got, c.want)
		}
	}
	if got := NewEstimate(Round{}, Guarantee{}, 1, Series{Value: []float64{1}}).NoiseNorm; !math.IsNaN(got) {
		t.Errorf("without standard errors: norm %v, want NaN", got)
	}
}
