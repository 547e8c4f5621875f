package dataset

import (
	"math"
	"slices"
	"testing"
)

// Features are fixed functions of one picture, the same for both sets, and keep the labels.
func TestFeatures(t *testing.T) {
	data, err := Generate(t.Context(), Options{TrainSize: 3, TestSize: 2, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of             Features
		channels, rows int
	}{{UnitEdges, 4, 7}, {Pooled, 0, 14}} {
		got, err := data.In(c.of)
		if err != nil || got.Train.Channels != c.channels || got.Test.Rows != c.rows || got.Train.Len() != 3 || got.Test.Len() != 2 || got.Note != data.Note {
			t.Fatalf("%+v: %+v, %v", c, got, err)
		}
		alone, err := c.of(&Set{Images: data.Train.Image(1), Labels: data.Train.Labels[1:2], Rows: 28, Cols: 28, Classes: 10})
		if err != nil || !slices.Equal(alone.Image(0), got.Train.Image(1)) || got.Train.Labels[1] != data.Train.Labels[1] {
			t.Errorf("%+v: one picture has other features alone, %v", c, err)
		}
	}
	edges, err := data.In(UnitEdges)
	if err != nil {
		t.Fatal(err)
	}
	for i, image := range edges.Train.All() {
		square := 0.
		for _, v := range image {
			square += v * v
		}
		if math.Abs(square-1) > 1e-12 {
			t.Errorf("edges of picture %d have the square norm %g, want 1", i, square)
		}
	}
	if data.Train.Rows != 28 || data.Test.Rows != 28 {
		t.Error("the original changed")
	}
	odd := *data
	odd.Test = &Set{Images: make([]float64, 9), Labels: []int{1}, Rows: 3, Cols: 3, Classes: 10}
	for _, of := range []Features{UnitEdges, Pooled} {
		if _, err := odd.In(of); err == nil {
			t.Error("3 pixels in blocks: want an error")
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
