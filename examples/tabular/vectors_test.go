package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The Python package has the same columns: python/tests/test_columns.py reads the same file.
func TestColumnsAreThoseOfPython(t *testing.T) {
	raw, err := os.ReadFile("../../python/tests/columns.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Columns string
		Rows    [][]string
		Names   []string
		Numbers [][]float64
		Outside map[string]int
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	s := someSchema(t, vectors.Columns, "y=0..1")
	table := newTable(s, "row")
	for i, cells := range vectors.Rows {
		table.add(i, append(slices.Clone(cells), "0.5"), false)
	}
	if !slices.Equal(s.names(), vectors.Names) {
		t.Errorf("names %q, want %q", s.names(), vectors.Names)
	}
	got := newScaling(s).of(table.train).x
	if len(got) != len(vectors.Numbers) {
		t.Fatalf("%d rows, want %d", len(got), len(vectors.Numbers))
	}
	for i, want := range vectors.Numbers {
		if !floats.EqualApprox(got[i], want, 1e-12) {
			t.Errorf("row %d is %v, want %v", i, got[i], want)
		}
	}
	for i, c := range s.inputs {
		if got := table.misfits.of(i); got != vectors.Outside[c.name] {
			t.Errorf("%s: %d cells do not fit, want %d", c.name, got, vectors.Outside[c.name])
		}
	}
}
