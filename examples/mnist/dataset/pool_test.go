package dataset

import (
	"slices"
	"strings"
	"testing"
)

func twoSquares() *Set {
	return &Set{
		Images: []float64{
			0, 1, .5, .5,
			1, 0, .5, .5,
			0, 0, 1, 1,
			0, 1, 1, 1,

			1, 1, 0, 0,
			1, 1, 0, 0,
			0, 0, 0, .25,
			0, 0, .25, .5,
		},
		Labels: []int{3, 7}, Rows: 4, Cols: 4, Classes: 10,
	}
}

func TestPool(t *testing.T) {
	for _, c := range []struct {
		k    int
		want []float64
	}{
		{2, []float64{.5, .5, .25, 1, 1, 0, 0, .25}},
		{4, []float64{.5625, .3125}},
	} {
		s := twoSquares()
		got, err := s.Pool(c.k)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Images, c.want) || got.Rows != 4/c.k || got.Cols != 4/c.k {
			t.Errorf("k=%d: got %d×%d %v, want %v", c.k, got.Rows, got.Cols, got.Images, c.want)
		}
		if !slices.Equal(got.Labels, s.Labels) || got.Classes != 10 {
			t.Errorf("k=%d: got labels %v in %d classes, want %v in 10", c.k, got.Labels, got.Classes, s.Labels)
		}
		got.Labels[0] = 0
		if s.Labels[0] != 3 || !slices.Equal(s.Images, twoSquares().Images) {
			t.Errorf("k=%d: the pooled set shares memory with its source", c.k)
		}
	}
}

func TestPoolRectangle(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		images     []float64
	}{
		{2, 4, []float64{0, 1, .25, .25, 0, 1, .25, .25}},
		{4, 2, []float64{0, 1, 0, 1, .25, .25, .25, .25}},
	} {
		s := &Set{Images: c.images, Labels: []int{1}, Rows: c.rows, Cols: c.cols, Classes: 10}
		got, err := s.Pool(2)
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{.5, .25}; !slices.Equal(got.Images, want) || got.Rows != c.rows/2 || got.Cols != c.cols/2 {
			t.Errorf("%d×%d: got %d×%d %v, want %v", c.rows, c.cols, got.Rows, got.Cols, got.Images, want)
		}
	}
}

func TestPoolOneIsTheSameSet(t *testing.T) {
	s := twoSquares()
	if got, err := s.Pool(1); err != nil || got != s {
		t.Errorf("got %p, %v; want %p", got, err, s)
	}
}

func TestPoolErrors(t *testing.T) {
	short := twoSquares()
	short.Images = short.Images[:31]
	tall := &Set{Images: make([]float64, 12), Labels: []int{1}, Rows: 4, Cols: 3}
	wide := &Set{Images: make([]float64, 12), Labels: []int{1}, Rows: 3, Cols: 4}
	for _, c := range []struct {
		s    *Set
		k    int
		want string
	}{
		{twoSquares(), 0, "dataset: pool: k: got 0, rule: must be at least 1 and divide the 4 rows and 4 columns"},
		{twoSquares(), -2, "k: got -2"},
		{twoSquares(), 3, "k: got 3"},
		{twoSquares(), 8, "k: got 8"},
		{tall, 2, "k: got 2"},
		{wide, 2, "k: got 2"},
		{short, 2, "dataset: pool: images: got 31, rule: must be 32 values for 2 images of 4×4"},
		{short, 1, "images: got 31, rule: must be 32 values"},
	} {
		if got, err := c.s.Pool(c.k); got != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d×%d k=%d: got %v, error %v; want error %q", c.s.Rows, c.s.Cols, c.k, got, err, c.want)
		}
	}
}
