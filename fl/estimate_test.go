package fl

import (
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
