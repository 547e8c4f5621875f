package trainer

import (
	"math"
	"testing"
)

func TestOutOfRange(t *testing.T) {
	for e, want := range map[float64]bool{
		0: false, 1e40: false, -1e40: false,
		math.Nextafter(1e40, math.Inf(1)): true, math.Nextafter(-1e40, math.Inf(-1)): true,
		math.Inf(1): true, math.Inf(-1): true, math.NaN(): true,
	} {
		if outOfRange(e) != want {
			t.Errorf("%g: got %t, want %t", e, !want, want)
		}
	}
}

func TestVolume(t *testing.T) {
	for _, c := range []struct {
		sides []int
		want  int // 0 for an error
	}{
		{nil, 1}, {[]int{7}, 7}, {[]int{3, 4, 5}, 60},
		{[]int{1 << 14, 1 << 14}, 1 << 28}, {[]int{1 << 14, 1<<14 + 1}, 0},
		{[]int{1 << 28, 1}, 1 << 28}, {[]int{1<<28 + 1}, 0},
		{[]int{1 << 32, 1 << 32}, 0}, {[]int{3, math.MaxInt/3 + 1}, 0}, // these wrap around
	} {
		if got, err := volume("v", c.sides...); got != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%v: got %d, %v", c.sides, got, err)
		}
	}
}
