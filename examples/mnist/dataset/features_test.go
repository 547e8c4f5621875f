package dataset

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hushgrad/hushgrad/fl"
)

// Features are fixed functions of one picture, the same for both sets, and keep the labels.
func TestDataIn(t *testing.T) {
	data, err := Generate(t.Context(), Options{TrainSize: 3, TestSize: 2, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		rows, cols int
	}{{"identity", 1, 784}, {Grey, 14, 14}, {Edges, 1, 196}} {
		f, err := OpenFeatures(t.Context(), c.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := data.In(t.Context(), f, nil)
		if err != nil || got.Train.Rows != c.rows || got.Test.Cols != c.cols || got.Train.Len() != 3 || got.Test.Len() != 2 || got.Note != data.Note {
			t.Fatalf("%s: %+v, %v", c.name, got, err)
		}
		want := make([]float64, f.Dim())
		f.Apply(want, data.Test.Image(1))
		if !slices.Equal(got.Test.Image(1), want) || !slices.Equal(got.Train.Labels, data.Train.Labels) {
			t.Errorf("%s: a picture has other features alone", c.name)
		}
		odd := *data
		odd.Test = &Set{Images: make([]float64, 9), Labels: []int{1}, Rows: 3, Cols: 3, Classes: 10}
		var p *fl.ParamError
		if _, err := odd.In(t.Context(), f, nil); !errors.As(err, &p) || p.Param != "images" {
			t.Errorf("%s of 3×3 pixels: %v, want a ParamError for images", c.name, err)
		}
	}
	if data.Train.Rows != 28 || data.Test.Rows != 28 {
		t.Error("the original changed")
	}
}

// The demo's edges have norm 1.
func TestEdgesHaveNormOne(t *testing.T) {
	data, err := Generate(t.Context(), Options{TrainSize: 20, TestSize: 1, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenFeatures(t.Context(), Edges, nil)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = data.In(t.Context(), f, nil); err != nil {
		t.Fatal(err)
	}
	for i, image := range data.Train.All() {
		square := 0.
		for _, v := range image {
			square += v * v
		}
		if math.Abs(square-1) > 1e-12 {
			t.Errorf("edges of picture %d have the square norm %g, want 1", i, square)
		}
	}
}

func TestAll(t *testing.T) {
	s := &Set{Images: []float64{1, 2, 3, 4}, Labels: []int{0, 1}, Rows: 1, Cols: 2, Classes: 10}
	all := s.All()
	if len(all) != 2 || &all[1][0] != &s.Images[2] || len(all[1]) != 2 {
		t.Errorf("%v", all)
	}
}
