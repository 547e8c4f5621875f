package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// picture is a Set of one 4×4 picture.
func picture(rows ...string) *Set {
	s := &Set{Labels: []int{0}, Rows: len(rows), Cols: len(rows[0]), Classes: 10}
	for _, r := range rows {
		for _, c := range r {
			s.Images = append(s.Images, float64(c-'0')/8)
		}
	}
	return s
}

// Each direction has a channel of its own, the same for a dark and a bright side.
func TestEdgesTellDirections(t *testing.T) {
	for name, c := range map[string]struct {
		s    *Set
		want [4]float64 // sums over the blocks
	}{
		"flat":            {picture("3333", "3333", "3333", "3333"), [4]float64{}},
		"vertical":        {picture("0088", "0088", "0088", "0088"), [4]float64{4 * .5 / 4, 0, 0, 0}},
		"vertical, other": {picture("8800", "8800", "8800", "8800"), [4]float64{4 * .5 / 4, 0, 0, 0}},
		"horizontal":      {picture("0000", "0000", "8888", "8888"), [4]float64{0, 4 * .5 / 4, 0, 0}},
		// x = y = 1/8 at every pixel: r = √2/8, 2φ = 90°.
		"diagonal": {picture("0123", "1234", "2345", "3456"), [4]float64{0, 0, 4 * math.Sqrt2 / 8 / 4, 0}},
		"other":    {picture("3210", "4321", "5432", "6543"), [4]float64{0, 0, 0, 4 * math.Sqrt2 / 8 / 4}},
	} {
		got, err := c.s.Edges(2)
		if err != nil {
			t.Fatal(err)
		}
		if got.Channels != 4 || got.Rows != 2 || got.Cols != 2 || got.Dim() != 16 || len(got.Images) != 16 {
			t.Fatalf("%s: %d channels of %d×%d, %d values", name, got.Channels, got.Rows, got.Cols, len(got.Images))
		}
		for k, want := range c.want {
			var sum float64
			for _, v := range got.Images[4*k : 4*k+4] {
				sum += v
			}
			if math.Abs(sum-want) > 1e-12 {
				t.Errorf("%s: channel %d has %g, want %g", name, k, sum, want)
			}
		}
	}
}

func TestEdgesStayInTheirBlock(t *testing.T) {
	s := picture("0000", "0000", "0000", "0008") // seen from (2,3), out of the interior, and from (3,2): border
	got, err := s.Edges(2)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(got.Images, func(v float64) bool { return v != 0 }) {
		t.Errorf("the border counts: %v", got.Images)
	}
	if got, err = picture("0000", "0000", "0080", "0000").Edges(2); err != nil {
		t.Fatal(err)
	}
	// Its neighbours (2,1) and (1,2) see a vertical and a horizontal edge.
	want := make([]float64, 16)
	want[2], want[4+1] = .5/4, .5/4
	if !slices.Equal(got.Images, want) {
		t.Errorf("got %v, want %v", got.Images, want)
	}
}

func TestUnit(t *testing.T) {
	s := &Set{Images: []float64{3, 4, 0, 0, 0, 1e-3}, Labels: []int{1, 2, 3}, Rows: 1, Cols: 2, Classes: 10}
	got := s.Unit()
	if want := []float64{.6, .8, 0, 0, 0, 1}; !closeTo(got.Images, want) || !slices.Equal(got.Labels, s.Labels) || s.Images[0] != 3 {
		t.Errorf("got %v, want %v", got.Images, want)
	}
}

func closeTo(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
}

func TestEdgesRefuse(t *testing.T) {
	grey := picture("00", "00")
	edges, err := grey.Edges(2)
	if err != nil {
		t.Fatal(err)
	}
	short := picture("00", "00")
	short.Images = short.Images[1:]
	for want, f := range map[string]func() (*Set, error){
		"k: got 0":        func() (*Set, error) { return grey.Edges(0) },
		"k: got 3":        func() (*Set, error) { return grey.Edges(3) },
		"channels: got 4": func() (*Set, error) { return edges.Edges(1) },
		"images: got 3":   func() (*Set, error) { return short.Edges(1) },
	} {
		if got, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, error %v, want one with %q", got, err, want)
		}
	}
	// Pooling keeps the channels apart.
	four, err := picture("0088", "0088", "0088", "0088").Edges(1)
	if err != nil {
		t.Fatal(err)
	}
	pooled, err := four.Pool(2)
	if err != nil || pooled.Dim() != 16 {
		t.Fatalf("%d values, %v", pooled.Dim(), err)
	}
	if want := append([]float64{.125, .125, .125, .125}, make([]float64, 12)...); !closeTo(pooled.Images, want) {
		t.Errorf("got %v, want %v", pooled.Images, want)
	}
}
