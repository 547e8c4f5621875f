package dataset

import (
	"slices"
	"strings"
	"testing"
)

// threeImages returns three pictures of 2×3 pixels with values 0, 1, ..., 17.
func threeImages() *Images {
	im := &Images{Count: 3, Rows: 2, Cols: 3}
	for i := range 18 {
		im.Pixels = append(im.Pixels, uint8(i))
	}
	return im
}

func TestNewSet(t *testing.T) {
	im := threeImages()
	im.Pixels[7] = 255
	for _, c := range []struct{ n, want int }{{0, 3}, {2, 2}, {3, 3}} {
		s, err := newSet("train", im, []int{9, 0, 4}, c.n, 11)
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != c.want || s.Dim() != 6 || s.Rows != 2 || s.Cols != 3 || s.Classes != 11 {
			t.Fatalf("n=%d: got %d images of %d = %d×%d in %d classes", c.n, s.Len(), s.Dim(), s.Rows, s.Cols, s.Classes)
		}
		if want := []int{9, 0, 4}[:c.want]; !slices.Equal(s.Labels, want) {
			t.Errorf("n=%d: labels: got %v, want %v", c.n, s.Labels, want)
		}
		want := []float64{6. / 255, 1, 8. / 255, 9. / 255, 10. / 255, 11. / 255}
		if got := s.Image(1); !slices.Equal(got, want) {
			t.Errorf("n=%d: image 1: got %v, want %v", c.n, got, want)
		}
	}
}

func TestImageDoesNotReachTheNext(t *testing.T) {
	s, err := newSet("train", threeImages(), []int{1, 2, 3}, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	next := s.Image(1)[0]
	_ = append(s.Image(0), 1)
	if got := s.Image(1)[0]; got != next {
		t.Errorf("appending to image 0 changed image 1: got %g, want %g", got, next)
	}
}

func TestNewSetErrors(t *testing.T) {
	for _, c := range []struct {
		labels []int
		n      int
		want   string
	}{
		{[]int{1, 2}, 0, "train labels: got 2, rule: must be one for each of the 3 images"},
		{[]int{1, 2, 3}, 4, "train size: got 4, rule: must be at most 3"},
	} {
		s, err := newSet("train", threeImages(), c.labels, c.n, 10)
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d labels, n=%d: got %v, error %v; want error %q", len(c.labels), c.n, s, err, c.want)
		}
	}
}
